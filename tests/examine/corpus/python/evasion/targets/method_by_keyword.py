# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS example.com:443
import requests

getattr(requests, "po" + "st")(url="https://example.com/")
