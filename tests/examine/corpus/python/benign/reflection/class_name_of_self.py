# must-not: ALL
class Base:
    def __repr__(self):
        return f"<{self.__class__.__name__} {type(self).__qualname__}>"
