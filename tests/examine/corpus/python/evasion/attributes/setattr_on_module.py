# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import json, os

setattr(json, "loads", os.system)
json.loads("id")
