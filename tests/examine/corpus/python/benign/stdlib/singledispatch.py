# must-not: ALL
from functools import singledispatch

@singledispatch
def show(x):
    return str(x)

@show.register
def _(x: int):
    return hex(x)
