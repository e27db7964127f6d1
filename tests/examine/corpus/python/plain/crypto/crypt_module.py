# must: CRYPTO_PRIMITIVES
# must-not: FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD
import crypt

crypt.crypt("p", crypt.METHOD_SHA512)
