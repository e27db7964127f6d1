# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import pathlib

pathlib.os.system("id")
