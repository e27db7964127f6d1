# must: PROC_EXEC
# must-not: NET_ACCESS
import os

os.execvpe("id", ["id"], {})
