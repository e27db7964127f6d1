# must-not: ALL
def add(a, b):
    return a + b

def sub(a, b):
    return a - b

TABLE = {"add": add, "sub": sub}

def act(name, a, b):
    return TABLE[name](a, b)
