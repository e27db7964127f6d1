# must: FS_READ_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS /etc/passwd
import os

os.sendfile(1, os.open("/etc/passwd", os.O_RDONLY), 0, 100)
