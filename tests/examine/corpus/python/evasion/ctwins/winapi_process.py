# must: PROC_EXEC
# must-not: NET_ACCESS
import _winapi

_winapi.CreateProcess(None, "cmd", None, None, False, 0, None, None, None)
