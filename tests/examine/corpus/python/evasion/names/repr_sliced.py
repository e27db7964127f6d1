# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, repr("system")[1:-1])("id")
