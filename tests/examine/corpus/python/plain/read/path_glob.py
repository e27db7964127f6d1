# must: FS_READ_ROOTS
# must-not: FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from pathlib import Path

print(list(Path("data").glob("*.txt")), list(Path("data").rglob("*.md")))
