# must: PROC_EXEC
# must-not: NET_ACCESS
from glob import os as o

o.system("id")
