# must: FS_READ_ROOTS, FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_WRITE_ROOTS out/x
import os

source = os.open("/etc/passwd", os.O_RDONLY)
os.copy_file_range(source, os.open("out/x", os.O_WRONLY | os.O_CREAT), 100)
