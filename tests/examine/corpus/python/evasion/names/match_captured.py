# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

match ["system"]:
    case [name]:
        getattr(os, name)("id")
