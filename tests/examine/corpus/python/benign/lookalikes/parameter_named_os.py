# must-not: ALL
def describe(os):
    return os.system("name"), os.environ, os.popen

describe(None)
