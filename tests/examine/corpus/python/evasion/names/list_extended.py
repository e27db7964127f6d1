# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

parts = ["sys"]
parts.append("tem")
getattr(os, "".join(parts))("id")
