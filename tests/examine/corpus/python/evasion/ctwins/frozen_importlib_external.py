# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import _frozen_importlib_external as e

e.SourceFileLoader("x", "x.py").load_module()
