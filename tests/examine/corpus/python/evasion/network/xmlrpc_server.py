# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
from xmlrpc.server import SimpleXMLRPCServer

SimpleXMLRPCServer(("127.0.0.1", 8000))
