# must: PROC_EXEC
# must-not: NET_ACCESS
from sys import modules as m

m["o" + "s"].system("id")
