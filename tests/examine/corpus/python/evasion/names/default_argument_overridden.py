# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

def go(name="getpid"):
    return getattr(os, name)("id")

go("system")
