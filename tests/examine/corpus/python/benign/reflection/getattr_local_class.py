# must-not: ALL
class Colours:
    RED = 1

def colour(name):
    return getattr(Colours, name)
