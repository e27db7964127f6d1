# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS api.example.com:8443
import requests

requests.request("GET", url="https://api.example.com:8443/x")
