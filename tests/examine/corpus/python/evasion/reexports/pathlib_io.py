# must: FS_READ_ROOTS
# must-not: NET_ACCESS
import pathlib

pathlib.io.open("/etc/passwd")
