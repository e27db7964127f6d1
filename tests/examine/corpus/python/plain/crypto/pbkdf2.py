# must: CRYPTO_PRIMITIVES
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD
import hashlib

hashlib.pbkdf2_hmac("sha256", b"p", b"s", 100_000)
