# must-any: ENV_READ, DYNAMIC_CODE_LOAD
def f():
    pass

print("{0.__globals__[__builtins__]}".format(f))
