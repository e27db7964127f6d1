# must: DYNAMIC_CODE_LOAD
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
class A:
    __add__ = lambda self, text: eval(text)

A() + "1"
