# must-not: ALL
import attrs

@attrs.define
class Point:
    x: int = attrs.field(default=0)
