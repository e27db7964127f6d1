# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
help.__class__.__call__.__globals__["__builtins__"]["eval"]("1")
