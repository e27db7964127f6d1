# must-not: ALL
from more_itertools import chunked

print(list(chunked([1, 2, 3], 2)))
