# must: PROC_EXEC
# must-not: NET_ACCESS
import sh

sh.id()
