# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import _pickle

def read(data):
    return _pickle.loads(data)
