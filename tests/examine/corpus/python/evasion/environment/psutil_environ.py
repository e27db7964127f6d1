# must: ENV_READ
# must-not: NET_ACCESS, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import psutil

psutil.Process().environ()
