# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, str.__doc__[0:3] and "system")("id")
