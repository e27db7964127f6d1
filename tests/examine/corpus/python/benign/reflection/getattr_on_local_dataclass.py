# must-not: ALL
from dataclasses import dataclass, fields

@dataclass
class Point:
    x: int = 0

    def values(self):
        return [getattr(self, field.name) for field in fields(self)]
