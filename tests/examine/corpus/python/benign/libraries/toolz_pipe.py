# must-not: ALL
from toolz import curry, pipe

print(pipe(1, curry(lambda a, b: a + b)(2)))
