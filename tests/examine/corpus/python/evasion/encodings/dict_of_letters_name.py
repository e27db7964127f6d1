# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

L = {"a": "sys", "b": "tem"}
getattr(os, L["a"] + L["b"])("id")
