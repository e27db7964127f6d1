# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import itertools, os

getattr(os, list(itertools.accumulate("system"))[-1])("id")
