# must: NET_ACCESS
# must-not: FS_WRITE_ROOTS, PROC_EXEC, DYNAMIC_CODE_LOAD
from urllib.parse import quote

print(quote("a b"))
