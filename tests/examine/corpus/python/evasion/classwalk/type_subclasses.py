# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
type.__subclasses__(object)
