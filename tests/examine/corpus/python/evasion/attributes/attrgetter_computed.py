# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS
import operator, os

def call(name):
    return operator.attrgetter(name)(os)
