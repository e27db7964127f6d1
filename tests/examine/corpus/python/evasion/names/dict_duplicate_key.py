# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, {"a": "getpid", "a": "system"}["a"])("id")
