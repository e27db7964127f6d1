# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import typing

typing.sys.modules["os"].system("id")
