# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

vars()["os"].system("id")
