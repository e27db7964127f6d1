# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import enum

enum.sys.modules["os"].system("id")
