# must: PROC_EXEC
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import functools
import os

class A:
    @functools.cached_property
    def o(self):
        return os

    def go(self):
        self.o.system("id")
