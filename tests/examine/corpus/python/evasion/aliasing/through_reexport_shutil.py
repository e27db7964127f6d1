# must: PROC_EXEC
# must-not: NET_ACCESS
import shutil

shutil.os.system("id")
