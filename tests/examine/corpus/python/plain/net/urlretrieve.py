# must: FS_WRITE_ROOTS, NET_ACCESS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS example.com:443
# target: FS_WRITE_ROOTS out/file
from urllib.request import urlretrieve

urlretrieve("https://example.com/file", "out/file")
