# must: PROC_EXEC
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import os

def f(n, tool):
    return tool.system("id") if n == 0 else f(n - 1, tool)

f(3, os)
