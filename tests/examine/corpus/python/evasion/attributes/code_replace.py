# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
def f():
    return 1

f.__code__ = f.__code__.replace(co_code=b"d\x00S\x00")
