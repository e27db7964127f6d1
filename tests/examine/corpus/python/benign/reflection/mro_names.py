# must-not: ALL
class Base:
    def line(self):
        return [each.__name__ for each in type(self).__mro__]
