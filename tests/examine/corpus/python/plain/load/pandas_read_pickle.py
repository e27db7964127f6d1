# must: FS_READ_ROOTS, DYNAMIC_CODE_LOAD
# must-not: PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS data/a.pkl
import pandas as pd

pd.read_pickle("data/a.pkl")
