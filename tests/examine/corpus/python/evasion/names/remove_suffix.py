# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "system_no".removesuffix("_no"))("id")
