# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, ("getpid" if not 1 else "system"))("id")
