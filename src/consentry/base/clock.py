"""Time as the product keeps it: wall-clock instants in UTC, milliseconds, written with a final Z.

Rules kept:
- A clock is an object that is passed in; nothing reads the time behind a caller's back.
- A wall clock that is set back expires nothing early and extends nothing: `SystemClock` never
  returns an instant earlier than one it returned before, and goes on counting by the machine's
  steady clock until the wall clock has caught up.

Not promised: protection across processes. A process that starts while the clock is wrong believes
it; the ledger's own order (`seq`) does not depend on time.
"""

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from threading import Lock
from typing import Protocol

from consentry.base.codes import Code
from consentry.base.errors import BadInput
from consentry.base.units import Duration
from consentry.base.values import dataclass

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
# `fromisoformat` takes many spellings; one wire form keeps canonical JSON canonical.
_WIRE_FORM = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z", re.ASCII)


@dataclass(frozen=True, slots=True, order=True)
class Instant:
    """A point in time, in milliseconds since 1970-01-01T00:00:00Z; `str()` is the wire form."""

    unix_ms: int

    def __str__(self) -> str:
        seconds, milliseconds = divmod(self.unix_ms, 1000)
        return f"{_second(seconds)}.{milliseconds:03d}Z"

    def as_datetime(self) -> datetime:
        """The same instant as an aware `datetime`, in UTC."""
        try:
            return _EPOCH + self.unix_ms * _MILLISECOND
        except OverflowError:
            raise BadInput(
                Code.TIMESTAMP, f"`{self.unix_ms}` ms lies outside the years 1 to 9999"
            ) from None

    def shown(self) -> str:
        """For people: local time to the second, with its offset from UTC."""
        moment = self.as_datetime()
        try:
            local = moment.astimezone()
        except (OverflowError, ValueError):
            # Hours from the first or the last year there is, the local one may lie beyond it.
            local = moment
        return local.isoformat(sep=" ", timespec="seconds")

    @classmethod
    def parse(cls, text: str) -> "Instant":
        """Reads what `str()` writes, with or without the fraction; anything else is refused."""
        problem = BadInput(
            Code.TIMESTAMP, f"`{text}` is not a time in ISO-8601, UTC, with a final Z"
        )
        if _WIRE_FORM.fullmatch(text) is None:
            raise problem
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            raise problem from None
        return cls((moment - _EPOCH) // _MILLISECOND)

    def plus(self, duration: Duration) -> "Instant":
        """The instant `duration` later."""
        return Instant(self.unix_ms + duration.milliseconds)

    def since(self, earlier: "Instant") -> Duration:
        """How long after `earlier` this is; zero when it is not after it."""
        return Duration(max(0, self.unix_ms - earlier.unix_ms))


@lru_cache(maxsize=64)
def _second(seconds: int) -> str:
    """A second as it is written; many events have the same one."""
    moment = Instant(seconds * 1000).as_datetime()
    return moment.isoformat(timespec="seconds").removesuffix("+00:00")


class Clock(Protocol):
    """Whatever can tell the time."""

    def now(self) -> Instant:
        """The present instant."""
        ...


def _steady_ns() -> int:
    """A clock that nobody sets, and that goes on while the machine sleeps where there is one."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime_ns(clock)


class SystemClock:
    """The machine's wall clock, which never steps back within one process; threads may share it."""

    def __init__(
        self,
        wall_ns: Callable[[], int] = time.time_ns,
        steady_ns: Callable[[], int] = _steady_ns,
    ) -> None:
        self._wall_ns = wall_ns
        self._steady_ns = steady_ns
        self._latest = wall_ns()
        self._latest_steady = steady_ns()
        self._one_at_a_time = Lock()

    def now(self) -> Instant:
        """The wall clock, or the last instant plus the time steadily elapsed since, if later."""
        with self._one_at_a_time:
            wall, steady = self._wall_ns(), self._steady_ns()
            # Only a wall clock behind an instant already given out counts as set back: the two
            # drift apart by nature, and always taking the later one would add up that drift.
            set_back = wall < self._latest
            self._latest = self._latest + (steady - self._latest_steady) if set_back else wall
            self._latest_steady = steady
            return Instant(self._latest // 1_000_000)


class ManualClock:
    """A clock that moves only when told to; for tests, replays and reports about the past."""

    def __init__(self, start: Instant) -> None:
        self._now = start

    def now(self) -> Instant:
        """The instant it was last set to."""
        return self._now

    def advance(self, duration: Duration) -> None:
        """Moves the hands forward."""
        self._now = self._now.plus(duration)

    def set_to(self, instant: Instant) -> None:
        """Moves the hands anywhere, back too."""
        self._now = instant
