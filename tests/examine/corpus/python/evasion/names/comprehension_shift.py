# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "".join(chr(ord(c) - 1) for c in "tztufn"))("id")
