# must-not: ALL
def eval(tree):
    return tree.left + tree.right

def total(tree):
    return eval(tree)
