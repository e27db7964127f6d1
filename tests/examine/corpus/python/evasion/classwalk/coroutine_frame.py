# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
async def c():
    pass

c().cr_frame.f_globals["__builtins__"]
