# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "".join(a + b for a, b in zip("sse", "ytm")))("id")
