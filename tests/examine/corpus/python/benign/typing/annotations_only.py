# must-not: ALL
from __future__ import annotations

from typing import Any, Callable, Protocol

class Runner(Protocol):
    def run(self, command: list[str]) -> int: ...

def f(x: Callable[..., Any]) -> None:
    return None
