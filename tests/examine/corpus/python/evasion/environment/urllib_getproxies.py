# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import urllib.request

urllib.request.getproxies_environment()
