# must: PROC_EXEC
# must-not: NET_ACCESS
import operator, os

operator.attrgetter("system")(os)("id")
