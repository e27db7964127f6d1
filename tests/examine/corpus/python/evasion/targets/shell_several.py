# must: PROC_EXEC
# must-not: NET_ACCESS
# target: PROC_EXEC make
# target: PROC_EXEC tar
import os

os.system("cd src && make; tar cf - . ")
