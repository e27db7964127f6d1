# must: PROC_EXEC
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import sys

if sys.version_info > (3,):
    import os as tool
else:
    import math as tool
tool.system("id")
