# must: FS_WRITE_ROOTS
# must-not: FS_READ_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_WRITE_ROOTS out/notes.md
from pathlib import Path

Path("out/notes.md").write_text("x")
