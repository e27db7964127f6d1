# must: PROC_EXEC
# must-not: NET_ACCESS
__import__("subprocess")
