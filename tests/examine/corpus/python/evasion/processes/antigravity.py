# must-any: NET_ACCESS, PROC_EXEC
import antigravity
