# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
import ctypes

ctypes.pythonapi.PyRun_SimpleString(b"print(1)")
