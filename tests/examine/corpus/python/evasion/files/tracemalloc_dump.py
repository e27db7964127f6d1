# must: FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
import tracemalloc

tracemalloc.take_snapshot().dump("out/x")
