# must: FS_READ_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS data/a.bz2
import bz2

bz2.open("data/a.bz2")
