# must: PROC_EXEC, DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
# target: PROC_EXEC id
import importlib

importlib.import_module("os").system("id")
