# must-not: ALL
from operator import itemgetter

print(sorted([(2, "a"), (1, "b")], key=itemgetter(0)))
