"""What a sign-off remembers while it reads: a small record for every attempt, action, session and case.

A ledger has more of them than memory should hold, so the fold asks for a place to keep them and takes
what it is given: a dictionary, or one that moves to disk what was not touched for long
(`store/spilledstates.py`). States are plain JSON values. What `get` returned may be changed only by
whoever puts it back.
"""

from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias

State: TypeAlias = dict[str, Any]


class States(Protocol):
    """Records by their keys, in the order in which the keys first came."""

    def get(self, key: str) -> State | None:
        """The record of that key."""
        ...

    def put(self, key: str, state: State) -> None:
        """Keeps it in place of the one before."""
        ...

    def pairs(self) -> Iterator[tuple[str, State]]:
        """All of them, the first that came first."""
        ...

    def __len__(self) -> int:
        """How many keys there are."""
        ...


MakeStates: TypeAlias = Callable[[str], States]
"""Gives an empty place to keep records, under a name of its own."""


class StatesInMemory:
    """A dictionary; for ledgers that are not large."""

    def __init__(self, name: str = "") -> None:
        self.name = name
        self._states: dict[str, State] = {}

    def get(self, key: str) -> State | None:
        """The record of that key."""
        return self._states.get(key)

    def put(self, key: str, state: State) -> None:
        """Keeps it in place of the one before."""
        self._states[key] = state

    def pairs(self) -> Iterator[tuple[str, State]]:
        """All of them, the first that came first."""
        yield from self._states.items()

    def __len__(self) -> int:
        return len(self._states)
