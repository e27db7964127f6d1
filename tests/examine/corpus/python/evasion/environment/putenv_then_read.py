# must: ENV_READ
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import os

os.putenv("A", "1")
print(os.environ.get("TOKEN"))
