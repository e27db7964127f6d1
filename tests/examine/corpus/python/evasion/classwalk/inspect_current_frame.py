# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import inspect

inspect.currentframe().f_back.f_globals["__builtins__"]
