# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import importlib.machinery

importlib.machinery.ExtensionFileLoader("x", "x.so").load_module()
