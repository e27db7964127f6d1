# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
from wsgiref.simple_server import make_server

make_server("127.0.0.1", 8000, None)
