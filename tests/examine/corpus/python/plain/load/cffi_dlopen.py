# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, ENV_READ, CRYPTO_PRIMITIVES
from cffi import FFI

FFI().dlopen("libm.so.6")
