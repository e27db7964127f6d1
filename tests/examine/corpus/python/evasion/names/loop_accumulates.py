# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

name = ""
for letter in "system":
    name += letter
getattr(os, name)("id")
