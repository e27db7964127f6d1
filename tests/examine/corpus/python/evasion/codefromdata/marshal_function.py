# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
import marshal, types

def make(data):
    return types.FunctionType(marshal.loads(data), {})()
