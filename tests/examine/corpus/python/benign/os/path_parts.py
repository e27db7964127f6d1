# must-not: ALL
from os import path

path.basename("/srv/a/b.txt")
path.splitext("a.txt")
path.dirname("/a/b")
path.normpath("a/../b")
