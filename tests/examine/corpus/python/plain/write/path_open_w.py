# must: FS_WRITE_ROOTS
# must-not: FS_READ_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_WRITE_ROOTS out/p.txt
from pathlib import Path

with Path("out/p.txt").open("w") as stream:
    print("x", file=stream)
