# must: FS_READ_ROOTS, DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS scripts/setup.txt
exec(open("scripts/setup.txt").read())
