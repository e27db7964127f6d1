# must-not: ALL
import os

print(os.sep, os.linesep, os.name, os.pathsep, os.curdir)
