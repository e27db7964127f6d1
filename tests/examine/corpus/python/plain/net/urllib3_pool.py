# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS example.com:443
import urllib3

urllib3.PoolManager().request("GET", "https://example.com/")
