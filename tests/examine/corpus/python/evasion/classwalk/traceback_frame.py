# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
try:
    1 / 0
except ZeroDivisionError as error:
    error.__traceback__.tb_frame.f_globals["__builtins__"]
