# must: FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD
import _io

_io.FileIO("out/x", "w")
