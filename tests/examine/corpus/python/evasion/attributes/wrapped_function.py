# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import contextlib

contextlib.contextmanager.__globals__["os"].system("id")
