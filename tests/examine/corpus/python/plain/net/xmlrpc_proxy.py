# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS example.com:443
from xmlrpc.client import ServerProxy

ServerProxy("https://example.com/rpc").ping()
