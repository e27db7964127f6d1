# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import sys

list(sys._current_frames().values())[0].f_globals
