# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
globals()["__builtins__"].eval("1")
