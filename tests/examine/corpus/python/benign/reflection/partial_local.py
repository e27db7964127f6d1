# must-not: ALL
import functools

def scale(factor, value):
    return factor * value

double = functools.partial(scale, 2)
print(double(4))
