# must: CRYPTO_PRIMITIVES
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD
# target: CRYPTO_PRIMITIVES blake2b
import hashlib

hashlib.blake2b(b"x", digest_size=16)
