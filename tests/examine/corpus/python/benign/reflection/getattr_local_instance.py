# must-not: ALL
class Point:
    def __init__(self):
        self.x = 1

point = Point()
for axis in ("x",):
    print(getattr(point, axis))
