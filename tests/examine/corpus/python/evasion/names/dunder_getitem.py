# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, ("getpid", "system").__getitem__(1))("id")
