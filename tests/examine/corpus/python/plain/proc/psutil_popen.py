# must: PROC_EXEC
# must-not: NET_ACCESS, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import psutil

psutil.Popen(["ls"])
