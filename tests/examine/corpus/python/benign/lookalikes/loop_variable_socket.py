# must-not: ALL
for socket in ("AM4", "LGA1700"):
    print(socket)
