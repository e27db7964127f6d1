# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import _imp

def load(spec):
    return _imp.create_dynamic(spec)
