# must: FS_READ_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import pathlib

class P(type(pathlib.Path())):
    pass

P("/etc/passwd").read_text()
