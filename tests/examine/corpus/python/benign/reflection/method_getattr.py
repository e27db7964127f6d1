# must-not: ALL
class Lazy:
    def __getattr__(self, name):
        if name == "value":
            return 1
        raise AttributeError(name)

Lazy().value
