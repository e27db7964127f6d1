# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import random

random._os.system("id")
