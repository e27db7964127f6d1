# must-not: ALL
import errno

print(errno.ENOENT, errno.errorcode[2])
