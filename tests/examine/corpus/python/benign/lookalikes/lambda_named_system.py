# must-not: ALL
system = lambda text: text.upper()
system("shutdown")
