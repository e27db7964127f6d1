# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
# target: DYNAMIC_CODE_LOAD ANY
import ctypes

ctypes.CDLL("libc.so.6").getpid()
