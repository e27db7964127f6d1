# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os, sys

getattr(os, sys.argv[1])("id")
