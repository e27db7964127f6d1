# must-not: ALL
class Path:
    def __init__(self, points):
        self.points = points

    def read_text(self):
        return " ".join(self.points)

Path(["a"]).read_text()
