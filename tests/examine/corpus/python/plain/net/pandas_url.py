# must: NET_ACCESS
# must-not: FS_WRITE_ROOTS, PROC_EXEC, DYNAMIC_CODE_LOAD
# target: NET_ACCESS example.com:443
import pandas as pd

pd.read_csv("https://example.com/data.csv")
