# must: PROC_EXEC
# must-not: NET_ACCESS
import _functools, os

_functools.partial(os.system, "id")()
