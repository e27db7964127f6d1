# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS example.com:443
import socket

s = socket.socket()
s.connect_ex(("example.com", 443))
