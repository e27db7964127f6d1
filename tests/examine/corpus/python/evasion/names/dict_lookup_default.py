# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, {"a": "getpid"}.get("b", "system"))("id")
