# must: PROC_EXEC
# must-not: NET_ACCESS
# target: PROC_EXEC curl
import os

os.system("TOKEN=x curl https://example.com/")
