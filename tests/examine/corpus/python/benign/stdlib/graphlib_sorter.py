# must-not: ALL
from graphlib import TopologicalSorter

print(list(TopologicalSorter({"b": {"a"}}).static_order()))
