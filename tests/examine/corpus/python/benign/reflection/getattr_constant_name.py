# must-not: ALL
def size(thing):
    return getattr(thing, "size", 0)
