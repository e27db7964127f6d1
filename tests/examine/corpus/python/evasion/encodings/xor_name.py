# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "".join(chr(c ^ 1) for c in b"rxrudl"))("id")
