# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import operator, os

getattr(os, operator.concat("sys", "tem"))("id")
