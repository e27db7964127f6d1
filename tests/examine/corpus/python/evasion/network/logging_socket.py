# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
from logging.handlers import SocketHandler

SocketHandler("log.example.com", 9020).emit(None)
