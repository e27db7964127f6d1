# must-not: ALL
from dataclasses import dataclass
from operator import attrgetter

@dataclass
class Person:
    name: str

print(sorted([Person("b"), Person("a")], key=attrgetter("name")))
