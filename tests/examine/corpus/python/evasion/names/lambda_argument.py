# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, (lambda a, b: b + a)("tem", "sys"))("id")
