# must: PROC_EXEC
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import math as typing

typing.TYPE_CHECKING = True
if typing.TYPE_CHECKING:
    import subprocess
