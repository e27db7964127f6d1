# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "a:system".partition(":")[2])("id")
