# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import codecs

codecs.register(lambda name: exec("x = 1"))
