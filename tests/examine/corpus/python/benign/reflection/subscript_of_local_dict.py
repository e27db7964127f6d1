# must-not: ALL
ACTIONS = {"a": len, "b": str}

def act(name, value):
    return ACTIONS[name](value)
