# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

def chr(number):
    return "system"

getattr(os, chr(97))("id")
