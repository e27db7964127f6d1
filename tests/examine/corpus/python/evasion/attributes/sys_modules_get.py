# must: PROC_EXEC
# must-not: NET_ACCESS
import sys

sys.modules.get("os").system("id")
