# must: FS_READ_ROOTS
# must-not: FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from zoneinfo import ZoneInfo

print(ZoneInfo("Europe/Paris"))
