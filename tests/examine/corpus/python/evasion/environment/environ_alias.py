# must: ENV_READ
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: ENV_READ TOKEN
from os import environ as settings

settings["TOKEN"]
