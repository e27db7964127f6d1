# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import threading

threading._os.system("id")
