# must: PROC_EXEC
# must-not: NET_ACCESS
# target: PROC_EXEC echo
# target: PROC_EXEC *
import os

os.system("echo $(curl https://example.com/)")
