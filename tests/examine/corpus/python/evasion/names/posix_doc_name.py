# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, os.system.__name__)("id")
