# must-not: ALL
from contextlib import contextmanager

@contextmanager
def indented():
    yield "  "

with indented() as space:
    print(space)
