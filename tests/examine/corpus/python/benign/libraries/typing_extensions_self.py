# must-not: ALL
from typing_extensions import Self, TypedDict

class Chain:
    def link(self) -> Self:
        return self
