# must: FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_WRITE_ROOTS out/x
import os

os.write(os.open("out/x", os.O_WRONLY | os.O_CREAT), b"x")
