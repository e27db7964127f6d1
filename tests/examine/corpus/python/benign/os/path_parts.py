# must-not: ALL
from os import path

path.basename("/etc/passwd")
path.splitext("a.txt")
path.dirname("/a/b")
path.normpath("a/../b")
