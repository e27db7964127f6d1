# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
from sys import path

path.append("/opt/plugins")
