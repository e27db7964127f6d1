# must: PROC_EXEC
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import math, os

tool = math
for _ in range(2):
    if tool is not math:
        tool.system("id")
    tool = os
