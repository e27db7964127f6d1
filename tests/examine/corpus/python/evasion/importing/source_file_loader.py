# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
from importlib.machinery import SourceFileLoader

SourceFileLoader("x", "plugins/x.py").load_module()
