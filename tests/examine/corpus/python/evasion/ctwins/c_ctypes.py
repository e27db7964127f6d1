# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import _ctypes

_ctypes.dlopen("libc.so.6", 0)
