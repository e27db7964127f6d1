# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
().__class__.__base__.__subclasses__()
