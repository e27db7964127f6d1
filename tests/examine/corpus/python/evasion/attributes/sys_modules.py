# must: PROC_EXEC
# must-not: NET_ACCESS
# target: PROC_EXEC id
import sys

sys.modules["os"].system("id")
