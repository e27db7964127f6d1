# must: PROC_EXEC
# must-not: NET_ACCESS
import os, signal

signal.signal(signal.SIGUSR1, lambda *a: os.system("id"))
