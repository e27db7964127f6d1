# must-any: ENV_READ, DYNAMIC_CODE_LOAD
import os

class A:
    def __init__(self):
        pass

print("{0.__init__.__globals__[os].environ}".format(A()))
