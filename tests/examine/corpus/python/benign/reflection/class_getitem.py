# must-not: ALL
class Box:
    def __class_getitem__(cls, item):
        return cls

Box[int]
