# must: DYNAMIC_CODE_LOAD
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
# target: DYNAMIC_CODE_LOAD ANY
import marshal

def unpack(data):
    return marshal.loads(data)
