# must-not: ALL
import os

def text(path):
    return os.fspath(path)
