# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import contextlib

contextlib.os.system("id")
