# must: CRYPTO_PRIMITIVES
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD
# target: CRYPTO_PRIMITIVES scrypt
import hashlib

hashlib.scrypt(b"p", salt=b"s", n=2, r=8, p=1)
