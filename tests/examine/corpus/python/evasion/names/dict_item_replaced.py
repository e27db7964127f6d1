# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

names = {"a": "getpid"}
names["a"] = "system"
getattr(os, names["a"])("id")
