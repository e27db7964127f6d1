# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS api.example.com:443
import requests

HOST = "api.example.com"
BASE = f"https://{HOST}/v1"
requests.get(BASE + "/users")
