# must-not: ALL
def popen(stack):
    return stack.pop()

popen([1, 2])
