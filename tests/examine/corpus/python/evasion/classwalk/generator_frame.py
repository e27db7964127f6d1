# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
g = (x for x in ())
g.gi_frame.f_builtins["eval"]("1")
