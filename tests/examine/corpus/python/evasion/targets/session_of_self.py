# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS example.com:443
import requests

class Client:
    def __init__(self):
        self.session = requests.Session()

    def go(self):
        return self.session.get("https://example.com/")
