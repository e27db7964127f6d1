# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, ("sy" + "s" * 1) + "tem")("id")
