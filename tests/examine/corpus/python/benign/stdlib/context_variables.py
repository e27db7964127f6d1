# must-not: ALL
from contextvars import ContextVar

current = ContextVar("current", default=None)
current.set(1)
print(current.get())
