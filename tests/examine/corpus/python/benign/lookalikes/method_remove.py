# must-not: ALL
names = ["a", "b"]
names.remove("a")
