# must: FS_READ_ROOTS
# must-not: FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS data/f.txt
open("data/X.txt".replace("X", "f"))
