# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import itertools

list(itertools.accumulate(["", "1"], lambda a, b: eval(b)))
