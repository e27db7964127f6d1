# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
def f():
    pass

f.__builtins__["eval"]("1")
