# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

parts = ["tem", "sys"]
parts.sort()
getattr(os, "".join(parts))("id")
