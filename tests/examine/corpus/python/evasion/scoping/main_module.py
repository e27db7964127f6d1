# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import __main__
import os

__main__.os.system("id")
