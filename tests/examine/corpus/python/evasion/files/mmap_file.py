# must: FS_READ_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import mmap, os

mmap.mmap(os.open("/etc/passwd", os.O_RDONLY), 0, prot=mmap.PROT_READ)
