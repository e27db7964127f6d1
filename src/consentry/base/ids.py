"""Identifiers: a prefix that says what it names, and a UUID of version 7 that sorts by time.

`run-0198c2f4-...`: the prefix makes an id legible in a log and refuses one kind where another is
meant. Ids made by one source ascend, also within one millisecond and when the clock steps back
(RFC 9562, section 6.2: a counter in the bits after the time, seeded at random). Threads may share
a source.

Not promised: secrecy. An id names a thing; knowing it is never a right to it.
"""

import os
import re
from collections.abc import Callable
from threading import Lock
from typing import Protocol

from consentry.base.clock import Clock
from consentry.base.codes import Code
from consentry.base.errors import BadInput

_PREFIX = re.compile(r"[a-z][a-z0-9]{1,15}")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", re.ASCII)

_COUNTER_BITS = 42  # 12 bits beside the version, 30 beside the variant
_TAIL_BITS = 32
_MOST_MS = (1 << 48) - 1


class IdSource(Protocol):
    """Whatever makes ids; tests pass one that counts."""

    def new(self, prefix: str) -> str:
        """A fresh id `prefix-uuid`."""
        ...


class Uuid7Ids:
    """Ids from the clock, a per-millisecond counter and the system's randomness."""

    def __init__(self, clock: Clock, random_bytes: Callable[[int], bytes] = os.urandom) -> None:
        self._clock = clock
        self._random_bytes = random_bytes
        self._latest_ms = -1
        self._counter = 0
        self._one_at_a_time = Lock()

    def new(self, prefix: str) -> str:
        """A fresh id, later in sort order than every id this source made before."""
        if _PREFIX.fullmatch(prefix) is None:
            raise BadInput(Code.IDENTIFIER, f"`{prefix}` is not a prefix for an id")
        with self._one_at_a_time:
            self._advance(self._clock.now().unix_ms)
            return f"{prefix}-{self._format()}"

    def _advance(self, now_ms: int) -> None:
        if not 0 <= now_ms <= _MOST_MS:
            raise BadInput(Code.IDENTIFIER, f"an id cannot hold the time `{now_ms}` ms")
        if now_ms > self._latest_ms:
            # The top bit stays clear, so that a busy millisecond has room to count up.
            self._latest_ms = now_ms
            self._counter = self._random_bits(_COUNTER_BITS - 1)
            return
        self._counter += 1
        if self._counter >> _COUNTER_BITS:
            self._latest_ms += 1
            self._counter = self._random_bits(_COUNTER_BITS - 1)

    def _random_bits(self, bits: int) -> int:
        return int.from_bytes(self._random_bytes((bits + 7) // 8)) >> (-bits % 8)

    def _format(self) -> str:
        high, low = self._counter >> 30, self._counter & (1 << 30) - 1
        number = self._latest_ms << 4 | 0x7
        number = number << 12 | high
        number = number << 2 | 0b10
        number = number << 30 | low
        number = number << _TAIL_BITS | self._random_bits(_TAIL_BITS)
        digits = f"{number:032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))


class CountingIds:
    """Ids in a fixed order without clock or chance; for tests and replays."""

    def __init__(self) -> None:
        self._made = 0

    def new(self, prefix: str) -> str:
        """The next id: a valid UUID of version 7 whose last digits count up from 1."""
        self._made += 1
        return check_id(f"{prefix}-00000000-0000-7000-8000-{self._made:012x}", prefix)


def check_id(text: str, prefix: str) -> str:
    """Returns `text` if it is an id with that prefix, and raises otherwise."""
    head, dash, uuid = text.partition("-")
    if (
        not dash
        or head != prefix
        or _PREFIX.fullmatch(head) is None
        or _UUID.fullmatch(uuid) is None
    ):
        raise BadInput(Code.IDENTIFIER, f"`{text}` is not an id of the form `{prefix}-<uuid7>`")
    return text
