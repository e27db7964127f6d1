# must-not: ALL
from typing import NamedTuple

class Call(NamedTuple):
    system: str
    popen: int = 0

Call("x").system
