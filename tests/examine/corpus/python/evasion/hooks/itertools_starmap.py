# must: PROC_EXEC
# must-not: NET_ACCESS
import itertools, os

list(itertools.starmap(os.system, [("id",)]))
