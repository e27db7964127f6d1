# must-not: ALL
from timeit import default_timer

start = default_timer()
