# must: FS_READ_ROOTS, FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC
import _sqlite3

_sqlite3.connect("out/app.db")
