# must-not: ALL
import stat

print(stat.S_ISREG(0o100644), stat.filemode(0o755))
