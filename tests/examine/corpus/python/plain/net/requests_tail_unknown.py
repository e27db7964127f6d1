# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import requests

def user(name):
    return requests.get(f"https://api.example.com/users/{name}")
