# must-not: ALL
def apply(function, values):
    return [function(value) for value in values]

apply(str.upper, ["a"])
