# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
[c for c in object.__subclasses__() if c.__name__ == "Popen"][0](["id"])
