# must-not: ALL
def make():
    global open
    open = len

def use(values):
    return values
