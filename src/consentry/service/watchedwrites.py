"""Asks the watch while a document store writes: what the store calls before each write, and once before all.

The watch is asked at the first call, at every so-manieth, and before all takes effect. A refusal is remembered,
whatever the store makes of it: one that goes on all the same, or raises something else, does not get away with
it. A store that calls less often than it must is found out when it is done; the watch is asked then, and what
was committed in spite of a no is taken back.
"""

from typing import Final

from consentry.decide.txattempt import Attempt
from consentry.enforce.broker import CapabilityRejected
from consentry.service.transactionplace import TxPlace

_ASKED_EVERY: Final = 32
"""So many writes go by before the watch is asked again; it is always asked before and after all."""


class WatchedWrites:
    """The writes of one commit."""

    def __init__(self, place: TxPlace, attempt: Attempt, writes: int) -> None:
        self._place = place
        self._attempt = attempt
        self._last = writes + 1
        self._calls = 0
        self.refusal: CapabilityRejected | None = None

    @property
    def has_begun(self) -> bool:
        """Whether anything may have been written."""
        return self._calls > 1

    def __call__(self) -> None:
        """Raises where it must not go on."""
        self._calls += 1
        if self.refusal is not None:
            raise self.refusal
        if self._calls in (1, self._last) or self._calls % _ASKED_EVERY == 0:
            self._ask()

    def refused_after_all(self) -> CapabilityRejected | None:
        """What stands against a commit that the store says took effect."""
        if self.refusal is None and self._calls < self._last:
            try:
                self._ask()
            except CapabilityRejected as late:
                return late
        return self.refusal

    def _ask(self) -> None:
        try:
            self._place.watch.require(self._attempt)
        except CapabilityRejected as refusal:
            self.refusal = refusal
            raise
