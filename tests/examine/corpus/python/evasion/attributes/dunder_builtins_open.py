# must-any: FS_READ_ROOTS, DYNAMIC_CODE_LOAD
__builtins__.__dict__["op" + "en"]("/etc/passwd")
