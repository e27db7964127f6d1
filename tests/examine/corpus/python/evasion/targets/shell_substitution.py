# must: PROC_EXEC
# must-not: NET_ACCESS
# target: PROC_EXEC curl
import os

os.system("echo $(curl https://example.com/)")
