# must: FS_READ_ROOTS
# must-not: FS_WRITE_ROOTS, NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS ~/.ssh/id_rsa
# target: FS_READ_ROOTS /proc/self/environ
WANTED = ["~/.ssh/id_rsa", "/proc/self/environ"]
