# must: FS_READ_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS /etc/netrc
from netrc import netrc

netrc("/etc/netrc")
