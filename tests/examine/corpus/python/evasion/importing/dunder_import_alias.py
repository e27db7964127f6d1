# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
load = __import__
load("os").system("id")
