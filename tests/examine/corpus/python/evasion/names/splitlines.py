# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "x\nsystem".splitlines()[1])("id")
