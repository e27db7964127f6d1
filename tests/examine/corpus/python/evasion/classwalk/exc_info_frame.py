# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import sys

try:
    raise ValueError
except ValueError:
    sys.exc_info()[2].tb_frame.f_builtins["eval"]("1")
