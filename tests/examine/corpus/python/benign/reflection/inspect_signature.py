# must-not: ALL
import inspect

def f(a, b=1):
    return a

print(inspect.signature(f).parameters)
