# must: CRYPTO_PRIMITIVES
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD
# target: CRYPTO_PRIMITIVES md5
import hashlib

hashlib.new("MD5")
