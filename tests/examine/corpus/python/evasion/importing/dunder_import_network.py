# must: NET_ACCESS
# must-not: PROC_EXEC
tool = __import__("requests")
