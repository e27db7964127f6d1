# must-not: ALL
import os

def measure(os):
    return os.system("warm"), os.environ

print(os.sep)
