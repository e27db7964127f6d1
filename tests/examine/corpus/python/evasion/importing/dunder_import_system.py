# must: PROC_EXEC
# must-not: NET_ACCESS
# target: PROC_EXEC id
__import__("os").system("id")
