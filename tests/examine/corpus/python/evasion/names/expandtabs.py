# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, "system\t".expandtabs(1).strip())("id")
