# must: NET_ACCESS
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: NET_ACCESS example.com:8080
import socket

ADDRESS = ("example.com", 8080)
with socket.create_connection(ADDRESS, timeout=3) as line:
    line.sendall(b"x")
