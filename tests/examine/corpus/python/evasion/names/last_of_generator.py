# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, [n for n in ("getpid", "system")][-1])("id")
