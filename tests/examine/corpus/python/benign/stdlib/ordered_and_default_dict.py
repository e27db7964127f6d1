# must-not: ALL
from collections import OrderedDict, defaultdict, deque, namedtuple

groups = defaultdict(list)
groups["a"].append(deque([1]))
Point = namedtuple("Point", "x y")
