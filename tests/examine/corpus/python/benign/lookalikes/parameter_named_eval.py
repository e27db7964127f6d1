# must-not: ALL
def apply(eval, values):
    return [eval(value) for value in values]

apply(len, ["a"])
