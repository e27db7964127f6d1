# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "".join(map(lambda c: chr(ord(c) - 1), "tztufn")))("id")
