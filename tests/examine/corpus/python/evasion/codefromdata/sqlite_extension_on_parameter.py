# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
def load(base):
    base.enable_load_extension(True)
    base.load_extension("./evil")
