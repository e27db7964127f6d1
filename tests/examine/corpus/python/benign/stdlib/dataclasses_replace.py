# must-not: ALL
from dataclasses import asdict, dataclass, replace

@dataclass(frozen=True)
class Point:
    x: int = 0

print(asdict(replace(Point(), x=1)))
