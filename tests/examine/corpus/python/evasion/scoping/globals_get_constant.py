# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

globals().get("os").system("id")
