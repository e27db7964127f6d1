# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
from http import server

server.os.system("id")
