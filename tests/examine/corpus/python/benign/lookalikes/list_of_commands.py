# must-not: ALL
COMMANDS = [["git", "status"], ["rm", "-rf", "build"]]
print(len(COMMANDS))
