# must: PROC_EXEC
# must-not: NET_ACCESS
import os, sys

sys.breakpointhook = lambda: os.system("id")
breakpoint()
