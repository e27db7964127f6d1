"""What a run reached by the proxy, and what it was refused there: what the engine tells of it."""

from collections.abc import Sequence
from typing import Final

from consentry.base.values import dataclass

READY: Final = b"r"
"""What the proxy says when it serves a run."""

MOST_FILES: Final = 250
"""How many descriptors go with one message."""


@dataclass(frozen=True, slots=True)
class Reach:
    """One place that a run asked for: whether it was let through, by which rule, and what went there.

    Port 0 is a name that was only looked up. `why` is why it was refused, or could not be reached;
    `secret` names the fields that were added to what went there. `is_held` says that it was granted by
    a person's answer, while the connection waited; the rule is the place that was asked for.
    """

    host: str
    port: int
    via: str
    is_allowed: bool
    rule: str | None
    why: str | None
    times: int
    sent: int
    received: int
    addresses: Sequence[str]
    secret: str | None = None
    is_held: bool = False


@dataclass(frozen=True, slots=True)
class Reached:
    """All of them, and how many there was no room for."""

    places: tuple[Reach, ...] = ()
    left_out: int = 0
