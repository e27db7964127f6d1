# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
from inspect import os as o

o.system("id")
