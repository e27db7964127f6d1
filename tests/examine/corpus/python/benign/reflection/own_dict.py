# must-not: ALL
class Record:
    def as_dict(self):
        return {name: value for name, value in self.__dict__.items()}
