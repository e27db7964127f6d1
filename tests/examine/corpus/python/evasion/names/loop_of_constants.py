# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

for name in ("getpid", "system"):
    getattr(os, name)
