# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
from timeit import Timer

Timer("x = 1", setup="import os").timeit(1)
