# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS api.example.com:443
import httpx

httpx.get("https://api.example.com/")
