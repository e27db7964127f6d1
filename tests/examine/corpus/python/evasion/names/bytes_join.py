# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, b"".join([b"sys", b"tem"]).decode())("id")
