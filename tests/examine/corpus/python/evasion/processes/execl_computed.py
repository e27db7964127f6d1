# must: PROC_EXEC
# must-not: NET_ACCESS
from os import execl

def go(path):
    execl(path, path)
