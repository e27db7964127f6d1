# must: PROC_EXEC, DYNAMIC_CODE_LOAD
# must-not: FS_READ_ROOTS, FS_WRITE_ROOTS, NET_ACCESS, ENV_READ, CRYPTO_PRIMITIVES
import importlib as il

il.import_module("o" + "s").system
