# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "".join(["m", "e", "t", "s", "y", "s"][::-1]))("id")
