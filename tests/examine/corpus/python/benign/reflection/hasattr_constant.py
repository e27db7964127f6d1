# must-not: ALL
def has_size(thing):
    return hasattr(thing, "__len__")
