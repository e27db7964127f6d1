# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
import socketserver

socketserver.TCPServer(("127.0.0.1", 9), socketserver.BaseRequestHandler)
