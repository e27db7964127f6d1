# must: PROC_EXEC
# must-not: NET_ACCESS
import os, sys

sys.excepthook = lambda *words: os.system("id")
raise ValueError
