# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import builtins

builtins.__dict__["len"] = lambda x: 0
