# must: FS_READ_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD
import posix

posix.open("/etc/passwd", posix.O_RDONLY)
