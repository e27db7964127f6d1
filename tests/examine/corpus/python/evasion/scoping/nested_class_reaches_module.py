# must: PROC_EXEC
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import os

def outer():
    class os_:
        os = 1

        class B:
            def go(self):
                return os.system("id")

    return os_
