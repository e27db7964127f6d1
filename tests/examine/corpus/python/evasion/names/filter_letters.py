# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "".join(filter(str.isalpha, "s1y2s3t4e5m")))("id")
