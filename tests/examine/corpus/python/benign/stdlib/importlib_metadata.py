# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD
from importlib.metadata import version

print(version("attrs"))
