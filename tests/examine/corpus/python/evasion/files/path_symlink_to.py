# must: FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from pathlib import Path

Path("out/link").symlink_to("/etc/passwd")
