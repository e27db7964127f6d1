# must: PROC_EXEC
# must-not: NET_ACCESS
import os, threading

threading.Timer(1, os.system, ["id"]).start()
