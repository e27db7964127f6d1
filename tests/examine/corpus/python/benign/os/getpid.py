# must-not: ALL
import os

print(os.getpid(), os.cpu_count())
