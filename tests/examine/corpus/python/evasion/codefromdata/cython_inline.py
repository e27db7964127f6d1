# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, ENV_READ, CRYPTO_PRIMITIVES
import cython

cython.inline("return 1")
