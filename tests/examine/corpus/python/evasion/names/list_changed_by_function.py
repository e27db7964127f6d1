# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

parts = ["getpid"]

def change(words):
    words[0] = "system"

change(parts)
getattr(os, parts[0])("id")
