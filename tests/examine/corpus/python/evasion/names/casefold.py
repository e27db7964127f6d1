# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "SYSTEM".casefold())("id")
