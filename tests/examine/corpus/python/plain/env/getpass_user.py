# must: ENV_READ
# must-not: FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import getpass

print(getpass.getuser())
