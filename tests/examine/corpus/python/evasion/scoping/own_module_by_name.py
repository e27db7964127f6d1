# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os, sys

sys.modules[__name__].os.system("id")
