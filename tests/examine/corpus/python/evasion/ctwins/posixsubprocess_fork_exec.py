# must: PROC_EXEC
# must-not: NET_ACCESS
import _posixsubprocess

_posixsubprocess.fork_exec([b"/bin/id"], [b"/bin/id"], True, (), None, None, -1, -1, -1, -1, -1, -1, -1, -1, False, False, 0, None, None, None, -1, None, False)
