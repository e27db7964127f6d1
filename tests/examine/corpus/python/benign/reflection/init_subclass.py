# must-not: ALL
class Registry:
    known = {}

    def __init_subclass__(cls, **words):
        super().__init_subclass__(**words)
        Registry.known[cls.__name__] = cls

class One(Registry):
    pass
