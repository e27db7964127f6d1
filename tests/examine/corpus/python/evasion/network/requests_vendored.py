# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
from requests.packages import urllib3

urllib3.PoolManager()
