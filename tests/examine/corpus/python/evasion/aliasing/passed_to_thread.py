# must: PROC_EXEC
# must-not: NET_ACCESS
import os, threading

threading.Thread(target=os.system, args=("id",)).start()
