# must: FS_READ_ROOTS
# must-not: NET_ACCESS, PROC_EXEC, ENV_READ, DYNAMIC_CODE_LOAD, CRYPTO_PRIMITIVES
# target: FS_READ_ROOTS /etc/x.ini
from configparser import RawConfigParser as C

c = C()
c.read(["/etc/x.ini"])
