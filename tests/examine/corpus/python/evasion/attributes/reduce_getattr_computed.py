# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
import functools, os

def resolve(path):
    return functools.reduce(getattr, path.split("."), os)
