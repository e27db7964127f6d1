# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
class A:
    def f(self):
        pass

A.f.__globals__["__builtins__"]
