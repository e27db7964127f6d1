# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS api.example.com:443
import requests

print(requests.get("https://api.example.com/v1/users").json())
