# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
getattr(object, "__subcl" + "asses__")()
