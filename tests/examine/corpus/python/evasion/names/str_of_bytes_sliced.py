# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, str(b"system")[2:-1])("id")
