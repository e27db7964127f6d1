# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

def outer():
    name = "getpid"

    def change():
        nonlocal name
        name = "system"

    change()
    return getattr(os, name)
