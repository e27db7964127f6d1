# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "metsys"[::-1 if True else 1])("id")
