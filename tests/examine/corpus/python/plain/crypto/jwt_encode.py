# must: CRYPTO_PRIMITIVES
# must-not: FS_WRITE_ROOTS, PROC_EXEC, DYNAMIC_CODE_LOAD
import jwt

jwt.encode({"a": 1}, "k", algorithm="HS256")
