# must: FS_READ_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from pathlib import Path

read = Path.read_text
read(Path("/etc/passwd"))
