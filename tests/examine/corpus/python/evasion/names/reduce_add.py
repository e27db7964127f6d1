# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import functools, os

getattr(os, functools.reduce(lambda a, b: a + b, ["sys", "tem"]))("id")
