# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
def f():
    pass

type(f)(compile("x = 1", "", "exec"), {})()
