# must-any: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD
__import__("os.path", fromlist=["join"]).os.system("id")
