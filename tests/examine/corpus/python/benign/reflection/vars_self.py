# must-not: ALL
class Record:
    def __eq__(self, other):
        return vars(self) == vars(other)
