# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "system"[0:6:1])("id")
