# must: FS_READ_ROOTS, FS_WRITE_ROOTS
# must-not: PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import duckdb

duckdb.connect("out/a.duckdb").execute("select 1")
