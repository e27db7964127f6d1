# must: FS_READ_ROOTS
# must-not: PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import fsspec

fsspec.open("data/a.txt")
