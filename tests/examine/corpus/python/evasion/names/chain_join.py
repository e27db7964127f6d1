# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import itertools, os

getattr(os, "".join(itertools.chain("sys", "tem")))("id")
