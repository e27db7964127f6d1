# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "{a}{b}".format_map({"a": "sys", "b": "tem"}))("id")
