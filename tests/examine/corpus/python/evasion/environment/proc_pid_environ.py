# must: FS_READ_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import os

open(f"/proc/{os.getppid()}/environ").read()
