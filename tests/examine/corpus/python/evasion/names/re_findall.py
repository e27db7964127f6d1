# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os, re

getattr(os, "".join(re.findall("[a-z]", "S1sYy2s3t4e5m")))("id")
