# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "%(a)stem" % {"a": "sys"})("id")
