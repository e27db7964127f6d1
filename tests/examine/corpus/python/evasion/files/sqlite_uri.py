# must: FS_READ_ROOTS
# must-not: NET_ACCESS, PROC_EXEC
import sqlite3 as db

db.connect("file:/etc/passwd?mode=ro", uri=True)
