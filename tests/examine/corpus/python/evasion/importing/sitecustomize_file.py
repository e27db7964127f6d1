# must: FS_WRITE_ROOTS
# must-not: NET_ACCESS, PROC_EXEC
# target: FS_WRITE_ROOTS sitecustomize.py
with open("sitecustomize.py", "w") as stream:
    stream.write("print(1)")
