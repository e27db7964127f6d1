# must: PROC_EXEC
# must-not: NET_ACCESS
import contextlib, os

with contextlib.ExitStack() as stack:
    stack.callback(os.system, "id")
