# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import imp

imp.load_source("x", "plugins/x.py")
