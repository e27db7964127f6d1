# must: FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC
import _gdbm

_gdbm.open("out/x", "c")
