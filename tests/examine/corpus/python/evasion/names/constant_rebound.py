# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

NAME = "getpid"
NAME = "system"
getattr(os, NAME)("id")
