# must-not: ALL
from typing import Generic, TypeVar, cast

T = TypeVar("T")

class Box(Generic[T]):
    def value(self) -> T:
        return cast(T, self)
