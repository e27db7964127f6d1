# must: PROC_EXEC
# must-not: NET_ACCESS
# nothing to see hereimport subprocess
