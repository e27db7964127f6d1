# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

try:
    raise ValueError("system")
except ValueError as error:
    getattr(os, str(error))("id")
