# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "5y5tem".translate(str.maketrans("5", "s")))("id")
