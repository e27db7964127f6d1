# must: FS_READ_ROOTS
# must-not: FS_WRITE_ROOTS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS data/a.csv
import polars as pl

pl.read_csv("data/a.csv")
