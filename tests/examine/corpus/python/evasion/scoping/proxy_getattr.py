# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

class Proxy:
    def __getattr__(self, name):
        return getattr(os, name)

Proxy().system("id")
