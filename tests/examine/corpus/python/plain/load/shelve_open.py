# must: FS_READ_ROOTS, FS_WRITE_ROOTS, DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
# target: DYNAMIC_CODE_LOAD ANY
import shelve

print(shelve.open("out/shelf")["a"])
