# must-not: ALL
def solve(matrix, right):
    system = matrix.T @ matrix
    return system.solve(right)
