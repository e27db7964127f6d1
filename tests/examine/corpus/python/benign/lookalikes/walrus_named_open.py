# must-not: ALL
if (open := [1, 2, 3]):
    print(open[0])
