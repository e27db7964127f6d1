# must: CRYPTO_PRIMITIVES
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
from jose import jwt

jwt.encode({"a": 1}, "k")
