# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "%stem".__mod__("sys"))("id")
