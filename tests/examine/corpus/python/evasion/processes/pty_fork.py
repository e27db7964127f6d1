# must: PROC_EXEC
# must-not: NET_ACCESS
from pty import fork

fork()
