# must: PROC_EXEC
# must-not: NET_ACCESS
import os

os.posix_spawnp("id", ["id"], {})
