# must: PROC_EXEC
# must-not: NET_ACCESS
import os, sys

sys.addaudithook(lambda event, words: os.system("id"))
