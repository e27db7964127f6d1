# must: PROC_EXEC
# must-not: FS_WRITE_ROOTS, NET_ACCESS, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import uuid

print(uuid.getnode())
