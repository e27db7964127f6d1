# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, f"{'sys'!s}{'tem':s}")("id")
