# must: PROC_EXEC, DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
import importlib

importlib.import_module("subprocess")
