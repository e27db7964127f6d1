# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
from yaml import UnsafeLoader, load

def read(text):
    return load(text, UnsafeLoader)
