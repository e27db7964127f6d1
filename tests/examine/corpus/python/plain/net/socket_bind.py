# must: NET_ACCESS
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import socket

server = socket.socket()
server.bind(("127.0.0.1", 8000))
server.listen()
