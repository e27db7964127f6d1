# must: FS_WRITE_ROOTS
# must-not: FS_READ_ROOTS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_WRITE_ROOTS out/a.csv
import pandas as pd

pd.DataFrame({"a": [1]}).to_csv("out/a.csv")
