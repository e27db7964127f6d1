# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "no_system".removeprefix("no_"))("id")
