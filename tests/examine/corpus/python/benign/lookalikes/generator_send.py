# must-not: ALL
def counter():
    total = 0
    while True:
        total += yield total

walk = counter()
next(walk)
walk.send(3)
