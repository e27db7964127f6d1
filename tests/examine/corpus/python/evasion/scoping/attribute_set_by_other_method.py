# must: PROC_EXEC
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import os

class A:
    def __init__(self):
        self.tool = None

    def prepare(self):
        self.tool = os

    def go(self):
        self.tool.system("id")
