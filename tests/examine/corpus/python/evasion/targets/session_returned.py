# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS example.com:443
import requests

def session():
    return requests.Session()

session().get("https://example.com/")
