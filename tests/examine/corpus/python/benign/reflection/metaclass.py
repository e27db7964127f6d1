# must-not: ALL
class Meta(type):
    def __new__(mcs, name, bases, space):
        return super().__new__(mcs, name, bases, space)

class Made(metaclass=Meta):
    pass
