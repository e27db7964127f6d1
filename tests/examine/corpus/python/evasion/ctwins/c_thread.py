# must: PROC_EXEC
# must-not: NET_ACCESS
import _thread, os

_thread.start_new_thread(os.system, ("id",))
