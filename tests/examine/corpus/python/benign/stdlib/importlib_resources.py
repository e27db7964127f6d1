# must-not: NET_ACCESS, PROC_EXEC, DYNAMIC_CODE_LOAD
import importlib.resources

def names(package):
    return importlib.resources.files(package)
