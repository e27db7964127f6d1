# must-not: ALL
from sortedcontainers import SortedDict, SortedList

print(SortedList([3, 1]), SortedDict(a=1))
