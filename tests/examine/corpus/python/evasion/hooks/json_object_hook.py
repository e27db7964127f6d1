# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import json

json.loads('{"a": 1}', object_hook=eval)
