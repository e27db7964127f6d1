# must: PROC_EXEC
# must-not: NET_ACCESS
import operator, os

operator.call(os.system, "id")
