# must-not: ALL
def getattr(thing, name):
    return 1

getattr(None, input())
