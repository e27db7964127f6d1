# must: CRYPTO_PRIMITIVES
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD
from argon2 import PasswordHasher

PasswordHasher().hash("p")
