# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import json

json.__spec__.loader.get_code("json")
exec(json.__spec__.loader.get_code("json"))
