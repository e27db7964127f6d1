# must-not: ALL
from operator import methodcaller

print(list(map(methodcaller("upper"), ["a", "b"])))
