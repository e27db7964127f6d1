# must: FS_READ_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS ~/.ssh/id_rsa
from pathlib import Path

(Path.home() / ".ssh" / "id_rsa").read_text()
