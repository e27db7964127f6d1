# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import platform

platform.os.popen("id")
