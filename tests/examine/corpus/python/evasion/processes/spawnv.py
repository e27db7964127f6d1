# must: PROC_EXEC
# must-not: NET_ACCESS
import os

os.spawnv(os.P_NOWAIT, "/bin/id", ["id"])
