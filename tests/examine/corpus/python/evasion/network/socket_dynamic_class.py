# must: NET_ACCESS
# must-not: PROC_EXEC
import socket

S = type("S", (socket.socket,), {})
S().connect(("192.0.2.1", 80))
