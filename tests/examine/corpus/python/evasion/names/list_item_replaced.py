# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

parts = ["getpid"]
parts[0] = "system"
getattr(os, parts[0])("id")
