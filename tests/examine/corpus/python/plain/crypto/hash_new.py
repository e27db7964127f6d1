# must: CRYPTO_PRIMITIVES
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD
# target: CRYPTO_PRIMITIVES sha512
import hashlib

print(hashlib.new("sha512", b"x").hexdigest())
