# must: CRYPTO_PRIMITIVES
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD
import hashlib

TABLE = {"weak": hashlib.md5}
TABLE["weak"](b"x")
