# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

parts = ["tem"]
parts.insert(0, "sys")
getattr(os, "".join(parts))("id")
