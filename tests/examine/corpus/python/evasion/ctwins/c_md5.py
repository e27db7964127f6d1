# must: CRYPTO_PRIMITIVES
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD
import _md5

_md5.md5(b"x")
