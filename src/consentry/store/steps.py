"""The steps of an append, told to whoever asked to be told.

Nobody asks in the product. The proofs of crash safety pass a function that ends the process, or
raises, at one of these steps, and look afterwards at what the database has kept.
"""

from collections.abc import Callable
from enum import Enum, auto
from typing import TypeAlias


class Step(Enum):
    """A place in the code where the process may end."""

    QUEUED = auto()
    BEGUN = auto()
    CHANGED = auto()
    LINKED = auto()
    INSERTED = auto()
    PROJECTED = auto()
    HEAD_MOVED = auto()
    COMMITTED = auto()
    SYNCED = auto()


Reached: TypeAlias = Callable[[Step], None]


def unobserved(step: Step) -> None:
    """What the product does at every step: nothing."""
