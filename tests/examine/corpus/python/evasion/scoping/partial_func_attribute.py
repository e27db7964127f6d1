# must: PROC_EXEC
# must-not: NET_ACCESS
import functools, os

functools.partial(os.system).func("id")
