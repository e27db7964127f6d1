# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os, sys

def name():
    if sys.argv:
        return "system"
    return "getpid"

getattr(os, name())("id")
