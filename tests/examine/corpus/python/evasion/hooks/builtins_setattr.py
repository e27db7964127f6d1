# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import builtins

setattr(builtins, "len", lambda x: 0)
