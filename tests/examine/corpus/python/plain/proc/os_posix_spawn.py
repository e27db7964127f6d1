# must: PROC_EXEC
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: PROC_EXEC /bin/true
import os

os.posix_spawn("/bin/true", ["true"], {})
