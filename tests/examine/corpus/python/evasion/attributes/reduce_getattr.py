# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import functools, shutil

functools.reduce(getattr, ["os", "system"], shutil)("id")
