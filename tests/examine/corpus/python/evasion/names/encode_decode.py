# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "system".encode("utf-16").decode("utf-16"))("id")
