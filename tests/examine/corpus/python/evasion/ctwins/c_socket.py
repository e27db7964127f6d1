# must: NET_ACCESS
# must-not: PROC_EXEC
import _socket

_socket.socket().connect(("192.0.2.1", 80))
