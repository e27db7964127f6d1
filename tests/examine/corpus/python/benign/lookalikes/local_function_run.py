# must-not: ALL
def run(command):
    return len(command)

run(["rm", "-rf", "/"])
