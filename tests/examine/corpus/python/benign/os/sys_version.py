# must-not: ALL
import sys

if sys.version_info >= (3, 11):
    print(sys.maxsize, sys.byteorder)
