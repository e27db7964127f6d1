# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS example.com:443
import http.client

http.client.HTTPSConnection("example.com", 443).request("GET", "/")
