# must: NET_ACCESS
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: NET_ACCESS example.com:443
import socket

s = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
s.connect(("example.com", 443))
