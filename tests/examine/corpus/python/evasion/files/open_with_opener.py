# must: FS_READ_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import os

open("x", opener=lambda path, flags: os.open("/etc/passwd", flags))
