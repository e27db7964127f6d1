# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS api.example.com:443
import requests

with requests.Session() as session:
    session.post("https://api.example.com/", json={})
