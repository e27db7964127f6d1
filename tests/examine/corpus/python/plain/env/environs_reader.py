# must: ENV_READ
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from environs import Env

print(Env().str("TOKEN"))
