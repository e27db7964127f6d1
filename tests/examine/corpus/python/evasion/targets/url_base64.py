# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS example.com:443
import base64, requests

requests.get(base64.b64decode("aHR0cHM6Ly9leGFtcGxlLmNvbS8=").decode("utf-8"))
