# must: DYNAMIC_CODE_LOAD
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
class A:
    __class_getitem__ = __import__

A["os"].system("id")
