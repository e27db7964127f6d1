# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

NAME = "getpid"

def change():
    global NAME
    NAME = "system"

change()
getattr(os, NAME)("id")
