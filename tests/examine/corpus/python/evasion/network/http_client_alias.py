# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS example.com:80
from http.client import HTTPConnection as Link

Link("example.com", 80).request("GET", "/")
