# must: FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from tempfile import SpooledTemporaryFile

SpooledTemporaryFile(max_size=1).write(b"xx")
