# must: FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import tempfile

with tempfile.NamedTemporaryFile("w", delete=False) as stream:
    stream.write("x")
