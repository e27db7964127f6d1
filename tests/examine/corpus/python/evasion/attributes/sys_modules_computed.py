# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
import sys

def module(name):
    return sys.modules[name]
