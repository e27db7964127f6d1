# must: PROC_EXEC
# must-not: NET_ACCESS
import subprocess