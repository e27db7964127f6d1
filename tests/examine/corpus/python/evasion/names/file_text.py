# must: FS_READ_ROOTS
# must-any: PROC_EXEC, DYNAMIC_CODE_LOAD
import os

getattr(os, open("data/name").read().strip())("id")
