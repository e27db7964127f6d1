# must: PROC_EXEC
# must-not: NET_ACCESS
import os

os.execlp("id", "id")
