# must: FS_READ_ROOTS, FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS data/a.txt
# target: FS_WRITE_ROOTS out/a.txt
import shutil

shutil.copy("data/a.txt", "out/a.txt")
