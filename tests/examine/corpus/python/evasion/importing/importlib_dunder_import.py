# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import importlib

importlib.__import__("os").system("id")
