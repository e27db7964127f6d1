# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os, re

getattr(os, re.sub("X", "", "sXyXstem"))("id")
