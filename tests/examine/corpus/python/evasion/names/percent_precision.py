# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "%.6s" % "systemxx")("id")
