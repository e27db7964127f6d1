# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

os.sys.modules["subprocess"].run(["id"])
