# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "".join(c for c in "s1y2s3t4e5m" if c.isalpha()))("id")
