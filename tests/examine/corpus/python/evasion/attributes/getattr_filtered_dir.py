# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

for name in dir(os):
    if name.startswith("sys") and name.endswith("tem"):
        getattr(os, name)("id")
