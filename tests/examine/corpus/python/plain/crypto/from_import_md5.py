# must: CRYPTO_PRIMITIVES
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD
# target: CRYPTO_PRIMITIVES md5
from hashlib import md5

print(md5(b"x").digest())
