# must: PROC_EXEC
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, ENV_READ, CRYPTO_PRIMITIVES
import os

g = getattr
g(os, "system")("id")
