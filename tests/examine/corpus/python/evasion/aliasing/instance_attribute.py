# must: PROC_EXEC
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import os

class Worker:
    def __init__(self):
        self.o = os

    def go(self):
        self.o.system("id")
