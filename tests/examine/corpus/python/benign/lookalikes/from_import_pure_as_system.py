# must-not: ALL
from string import capwords as system

system("rm -rf all")
