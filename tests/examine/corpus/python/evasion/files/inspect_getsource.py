# must: FS_READ_ROOTS
import inspect

def show(function):
    return inspect.getsource(function)
