# must: FS_READ_ROOTS, FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from zipfile import ZipFile

with ZipFile("out/a.zip", "a") as z:
    z.write("/etc/passwd")
