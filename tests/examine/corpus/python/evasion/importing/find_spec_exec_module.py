# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import importlib.util

spec = importlib.util.spec_from_file_location("x", "plugins/x.py")
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
