# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "{:c}ystem".format(115))("id")
