# must: FS_READ_ROOTS, ENV_READ
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: ENV_READ HOME
import os

open(os.environ["HOME"] + "/.ssh/id_rsa")
