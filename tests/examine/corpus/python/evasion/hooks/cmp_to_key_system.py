# must: PROC_EXEC
# must-not: NET_ACCESS
import functools, os

functools.cmp_to_key(lambda a, b: os.system("id"))
