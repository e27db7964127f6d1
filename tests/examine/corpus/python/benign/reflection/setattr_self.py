# must-not: ALL
class Options:
    def __init__(self, **words):
        for name, value in words.items():
            setattr(self, name, value)
