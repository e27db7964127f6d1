# must: PROC_EXEC
# must-not: NET_ACCESS
import os, sys

os.execv(sys.executable, [sys.executable, "-c", "print(1)"])
