# must: PROC_EXEC, DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
from importlib import import_module as load

load("subprocess").run(["id"])
