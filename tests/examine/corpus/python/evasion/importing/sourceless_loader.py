# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
from importlib.machinery import SourcelessFileLoader as L

L("x", "x.pyc").exec_module(None)
