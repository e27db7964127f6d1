# must: PROC_EXEC
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import os

class Manager:
    def __enter__(self):
        return os

    def __exit__(self, *words):
        return None

with Manager() as o:
    o.system("id")
