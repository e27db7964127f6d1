# must: PROC_EXEC
# must-not: NET_ACCESS
import pipes

pipes.Template().append("id", "--")
