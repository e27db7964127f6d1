# must: PROC_EXEC
# must-not: NET_ACCESS
import os, re

re.sub("id", lambda m: str(os.system(m[0])), "id")
