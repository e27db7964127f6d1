# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
import os

getattr(os, "x,system".split(",")[1])("id")
