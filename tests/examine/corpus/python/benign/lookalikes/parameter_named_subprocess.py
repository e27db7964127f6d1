# must-not: ALL
def check(subprocess):
    return subprocess.run(1)
