# must-not: ALL
def collect(*exec, **eval):
    return exec, eval

collect(1, a=2)
