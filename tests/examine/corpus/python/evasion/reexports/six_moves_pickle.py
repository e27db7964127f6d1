# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
from six.moves import cPickle

def read(data):
    return cPickle.loads(data)
