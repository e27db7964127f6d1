# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
[c for c in object.__subclasses__() if c.__name__ == "catch_warnings"][0]()._module.__builtins__["eval"]("1")
