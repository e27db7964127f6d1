# must: PROC_EXEC
# must-not: NET_ACCESS, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from sh import ls

print(ls("-l"))
