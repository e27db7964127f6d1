# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import inspect

inspect.stack()[0].frame.f_builtins["exec"]("x = 1")
