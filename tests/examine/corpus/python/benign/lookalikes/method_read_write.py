# must-not: ALL
class Tape:
    def __init__(self):
        self.cells = []

    def write(self, cell):
        self.cells.append(cell)

    def read(self):
        return self.cells.pop()

Tape().write(1)
