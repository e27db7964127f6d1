# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import json

json.loads("1.5", parse_float=eval)
