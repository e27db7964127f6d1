# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "{1}{0}".format("tem", "sys"))("id")
