# must: CRYPTO_PRIMITIVES
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD
from hmac import digest

digest(b"k", b"m", "sha1")
