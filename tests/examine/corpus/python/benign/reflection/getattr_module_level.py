# must-not: ALL
def __getattr__(name):
    raise AttributeError(name)
