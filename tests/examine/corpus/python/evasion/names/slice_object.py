# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "metsys"[slice(None, None, -1)])("id")
