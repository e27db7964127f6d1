# must: FS_READ_ROOTS, FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS data/a.xlsx
import openpyxl

openpyxl.load_workbook("data/a.xlsx").save("out/a.xlsx")
