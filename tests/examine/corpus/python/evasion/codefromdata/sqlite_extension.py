# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
import sqlite3

base = sqlite3.connect(":memory:")
base.enable_load_extension(True)
base.load_extension("./evil")
