# must: NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
from urllib import request as r

r.build_opener().open("https://example.com/")
