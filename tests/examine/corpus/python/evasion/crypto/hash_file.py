# must: FS_READ_ROOTS, CRYPTO_PRIMITIVES
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD
import hashlib

hashlib.file_digest(open("data/x", "rb"), "sha256")
