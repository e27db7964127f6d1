# must: FS_READ_ROOTS, FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
def touch(path, mode):
    return open(path, mode)
