# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import sys

[m for m in sys.modules.values() if m.__name__ == "os"][0].system("id")
