# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

a = ["getpid"]
b = a
b[0] = "system"
getattr(os, a[0])("id")
