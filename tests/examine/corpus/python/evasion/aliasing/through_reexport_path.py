# must: PROC_EXEC
import os.path

os.path.os.system("id")
