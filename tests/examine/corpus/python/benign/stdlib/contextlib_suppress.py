# must-not: ALL
import contextlib

with contextlib.suppress(ValueError), contextlib.ExitStack() as stack:
    stack.callback(print, "done")
