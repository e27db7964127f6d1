# must: FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import tempfile as t

t.mkstemp(dir="out")
