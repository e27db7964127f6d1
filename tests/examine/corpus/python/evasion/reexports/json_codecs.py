# must: FS_READ_ROOTS
# must-not: NET_ACCESS, PROC_EXEC
import json

json.codecs.open("/etc/passwd")
