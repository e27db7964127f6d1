# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
from random import _os as o

o.system("id")
