# must: FS_READ_ROOTS, ENV_READ
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS ~/.ssh/id_rsa
import os

open(os.path.expanduser("~/.ssh/id_rsa"))
