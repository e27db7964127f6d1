# must-not: ALL
class Thing:
    def __hash__(self):
        return hash(("a", 1))
