# must: CRYPTO_PRIMITIVES
# must-not: FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD
from passlib.hash import argon2

argon2.hash("p")
