# coding: cp1252
# must: FS_READ_ROOTS
# must-not: PROC_EXEC, DYNAMIC_CODE_LOAD
# target: FS_READ_ROOTS data/café.txt
open('data/café.txt')
