# must: FS_READ_ROOTS, FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
# target: FS_WRITE_ROOTS out/app.db
import sqlite3

sqlite3.connect("out/app.db").execute("CREATE TABLE t (x)")
