# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

class F:
    def __format__(self, text):
        return "system"

getattr(os, f"{F()}")("id")
