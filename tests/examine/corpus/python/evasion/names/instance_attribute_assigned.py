# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

class A:
    name = "getpid"

a = A()
a.name = "system"
getattr(os, a.name)("id")
