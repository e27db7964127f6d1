# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
import yaml

def read(text):
    return list(yaml.load_all(text, Loader=yaml.UnsafeLoader))
