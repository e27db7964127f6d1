# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

parts = ["tem", "sys"]
parts.reverse()
getattr(os, "".join(parts))("id")
