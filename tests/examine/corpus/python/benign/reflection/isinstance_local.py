# must-not: ALL
class Local:
    pass

def known(x):
    return isinstance(x, Local) and issubclass(type(x), Local)
