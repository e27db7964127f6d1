# must: PROC_EXEC
# must-not: NET_ACCESS
import os, sqlite3

sqlite3.connect(":memory:").create_function("f", 1, os.system)
