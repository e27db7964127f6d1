# must-not: ALL
import collections
import itertools

print(collections.Counter(itertools.chain("ab", "bc")))
