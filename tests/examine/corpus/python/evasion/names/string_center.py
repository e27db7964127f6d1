# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "system".center(10).strip())("id")
