# must: PROC_EXEC
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import os

getattr(os, "".join(chr(c) for c in (115, 121, 115, 116, 101, 109)))("id")
