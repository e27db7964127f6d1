# must: PROC_EXEC
# must-not: NET_ACCESS
from multiprocessing import util

util.spawnv_passfds(b"/bin/id", [b"id"], [])
