# must: FS_READ_ROOTS
# must-not: FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
import os

for entry in os.scandir("data"):
    print(entry.name)
for folder, folders, files in os.walk("data"):
    print(folder)
