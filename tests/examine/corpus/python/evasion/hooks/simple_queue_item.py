# must: PROC_EXEC
# must-not: NET_ACCESS
import os, queue

q = queue.Queue()
q.put(os.system)
q.get()("id")
