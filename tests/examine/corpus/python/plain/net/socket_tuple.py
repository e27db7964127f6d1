# must: NET_ACCESS
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: NET_ACCESS 192.0.2.1:80
import socket

socket.create_connection(("192.0.2.1", 80))
