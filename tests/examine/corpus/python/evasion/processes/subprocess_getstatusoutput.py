# must: PROC_EXEC
# must-not: NET_ACCESS
from subprocess import getstatusoutput as g

g("id")
