# must: PROC_EXEC
# must-not: NET_ACCESS
import os

os.spawnvpe(os.P_WAIT, "id", ["id"], {})
