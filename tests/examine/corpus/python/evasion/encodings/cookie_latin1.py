# coding: latin-1
# must: DYNAMIC_CODE_LOAD
# must-not: PROC_EXEC
s = 'éè'
eval('1')
