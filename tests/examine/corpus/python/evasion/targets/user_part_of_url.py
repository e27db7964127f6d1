# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS 192.0.2.1:443
import requests

requests.get("https://example.com@192.0.2.1/")
