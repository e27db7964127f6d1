# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

name = "getpid"
for _ in range(2):
    getattr(os, name)
    name = "system"
