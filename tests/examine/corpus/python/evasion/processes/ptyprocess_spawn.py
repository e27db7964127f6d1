# must: PROC_EXEC
# must-not: NET_ACCESS
from ptyprocess import PtyProcess

PtyProcess.spawn(["id"])
