# must: ENV_READ
# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, os.environ["NAME"])("id")
