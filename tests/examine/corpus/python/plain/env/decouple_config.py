# must: ENV_READ
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from decouple import config

print(config("SECRET_KEY"))
