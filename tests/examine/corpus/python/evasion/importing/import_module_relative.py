# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import importlib

importlib.import_module(".plugin", package="app")
