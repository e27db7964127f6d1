# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import uuid

uuid.os.popen("id")
