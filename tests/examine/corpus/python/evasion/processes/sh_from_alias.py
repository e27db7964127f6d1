# must: PROC_EXEC
# must-not: NET_ACCESS
from sh import rm as tidy

tidy("-rf", "build")
