# must: FS_READ_ROOTS, FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS /etc/passwd
# target: FS_WRITE_ROOTS out/x
from shutil import copyfile as c

c("/etc/passwd", "out/x")
