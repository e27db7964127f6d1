# must: FS_WRITE_ROOTS
# must-not: FS_READ_ROOTS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_WRITE_ROOTS out/a.parquet
import pandas

frame = pandas.DataFrame({"a": [1]})
frame.to_parquet("out/a.parquet")
