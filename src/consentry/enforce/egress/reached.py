"""What a run reached and what it was refused, as the proxy saw it.

One entry for each host, port and verdict, with counts: a program that asks for the same place ten
thousand times is one entry. Names come from the program, and are kept as they were asked for, the
beginning of those that are longer than any name.
"""

from threading import Lock
from typing import Final

from consentry.base.values import dataclass, replace

MOST_ENTRIES: Final = 2000
"""Of what was reached, and as many of what was refused."""
_MOST_NAME: Final = 256


@dataclass(frozen=True, slots=True)
class Asked:
    """A place and what was said to it."""

    host: str
    port: int
    via: str
    is_allowed: bool
    rule: str | None
    why: str | None
    secret: str | None = None
    is_held: bool = False


@dataclass(slots=True)
class Counted:
    """How often, and how much went each way."""

    times: int = 0
    sent: int = 0
    received: int = 0
    addresses: tuple[str, ...] = ()


class Reached:
    """The entries of one run; threads may share it."""

    def __init__(self) -> None:
        self._entries: dict[Asked, Counted] = {}
        self._kinds = {True: 0, False: 0}
        self._left_out = 0
        self._one_at_a_time = Lock()

    def note(self, asked: Asked, *, address: str | None = None) -> Counted:
        """One more time; bytes are added to what is returned, by `count`."""
        if len(asked.host) > _MOST_NAME:
            asked = replace(asked, host=asked.host[:_MOST_NAME] + "…")
        with self._one_at_a_time:
            entry = self._entries.get(asked)
            if entry is None:
                # Apart, so that a flood of refusals leaves room for what was reached.
                if self._kinds[asked.is_allowed] >= MOST_ENTRIES:
                    self._left_out += 1
                    return Counted()
                self._kinds[asked.is_allowed] += 1
                entry = self._entries[asked] = Counted()
            entry.times += 1
            if address is not None and address not in entry.addresses:
                entry.addresses = (*entry.addresses, address)[:16]
            return entry

    def count(self, entry: Counted, sent: int, received: int) -> None:
        """What went over a connection."""
        with self._one_at_a_time:
            entry.sent += sent
            entry.received += received

    def miss(self) -> None:
        """Something was asked for, and nobody can say what."""
        with self._one_at_a_time:
            self._left_out += 1

    def told(self) -> tuple[list[tuple[object, ...]], int]:
        """All of it, in plain values, and how many entries there was no room for."""
        with self._one_at_a_time:
            said: list[tuple[object, ...]] = [
                (
                    asked.host,
                    asked.port,
                    asked.via,
                    asked.is_allowed,
                    asked.rule,
                    asked.why,
                    entry.times,
                    entry.sent,
                    entry.received,
                    list(entry.addresses),
                    asked.secret,
                    asked.is_held,
                )
                for asked, entry in self._entries.items()
            ]
            return said, self._left_out
