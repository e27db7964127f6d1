# must-not: ALL
Point = type("Point", (), {"x": 0, "y": 0})
print(Point.x)
