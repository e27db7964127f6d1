# must: FS_READ_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import fileinput

for line in fileinput.input(files=["data/a.txt"]):
    print(line)
