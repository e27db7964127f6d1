# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import sys

sys.setprofile(lambda *words: exec("x = 1"))
