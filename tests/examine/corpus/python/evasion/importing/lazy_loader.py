# must: DYNAMIC_CODE_LOAD
# must-not: NET_ACCESS, PROC_EXEC
import importlib.util

def lazy(spec):
    return importlib.util.LazyLoader(spec.loader)
