# must-not: ALL
import os

def f(path: os.PathLike[str]) -> str:
    return str(path)
