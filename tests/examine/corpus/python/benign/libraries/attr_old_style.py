# must-not: ALL
import attr

@attr.s
class Point:
    x = attr.ib(default=0)
