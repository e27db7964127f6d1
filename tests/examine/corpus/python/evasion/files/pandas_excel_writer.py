# must: FS_WRITE_ROOTS
# must-not: PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
from pandas import ExcelWriter

ExcelWriter("out/x.xlsx")
