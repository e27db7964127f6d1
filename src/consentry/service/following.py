"""Follows the ledger: what fits and was recorded since the last look, by any process or machine.

A look asks where every chain ends and reads only the chains that grew, so that an idle ledger costs
one small query. Nothing comes twice: a chain is read on from the event it was read up to, never by
time. Events of one chain come in its order; between chains the earlier time goes first. Nothing is
left out in silence: what was archived before it was read is told by number and archive, because
whether it fits is said by what is no longer there.

The ledger need not be there when following begins. One that was there may be away for a while (a
server that restarts, a locked file); only when it stays away is that an error. A chain that is
shorter than it was is an error at once: following over a cut would hide it.
"""

import heapq
import time
from collections.abc import Callable, Mapping
from typing import TypeAlias

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.record.chain import ChainHead
from consentry.service.audit import LogRequest, whole_event
from consentry.store.history import Archived, ChainPart, History

Event: TypeAlias = Mapping[str, object]
Opened: TypeAlias = Callable[[], History | None]
"""Opens the ledger for reading, or says with None that there is none yet."""

PATIENCE_SECONDS = 60.0
_MAY_PASS = frozenset({Code.LEDGER_UNWRITABLE, Code.LEDGER_BUSY})


class Following:
    """One reader of a growing ledger; `steady` measures, in seconds, how long the ledger is away."""

    def __init__(
        self, opened: Opened, request: LogRequest, steady: Callable[[], float] = time.monotonic
    ) -> None:
        self._opened = opened
        self._wanted = request.wanted
        self._steady = steady
        self._history: History | None = None
        self._read_up_to: dict[str, int] = {}
        self._missed: list[Archived] = []
        self._away_since: float | None = None

    def begin(self, most: int) -> list[Event]:
        """The latest events that fit, and the place from which `more` goes on."""
        self._history = self._opened()
        if self._history is None:
            return []
        self._read_up_to = {head.writer: head.seq for head in self._history.heads()}
        # What was recorded between the two questions is left to `more`.
        return [
            whole_event(row)
            for row in self._history.latest(self._wanted, most)
            if row.seq <= self._read_up_to.get(row.writer, 0)
        ]

    def more(self) -> list[Event]:
        """What fits and was recorded since the last look; nothing while the ledger is away."""
        try:
            found = self._look()
        except LedgerProblem as problem:
            if problem.code not in _MAY_PASS or self._is_out_of_patience():
                raise
            return []
        self._away_since = None
        return found

    def missed(self) -> list[Archived]:
        """What was archived before `more` came to it; told once."""
        missed, self._missed = self._missed, []
        return missed

    def _look(self) -> list[Event]:
        if self._history is None:
            self._history = self._opened()
            if self._history is None:
                return []
        heads = self._history.heads()
        _require_no_shorter(heads, self._read_up_to)
        grown = [self._grown(self._history, head) for head in heads]
        chains = [[whole_event(row) for row in part.rows] for part in grown]
        # Only now: a look that failed half-way is repeated from where the one before it ended.
        self._read_up_to.update((head.writer, head.seq) for head in heads)
        self._missed += [each for part in grown for each in part.archived]
        return list(heapq.merge(*chains, key=_time_of))

    def _grown(self, history: History, head: ChainHead) -> ChainPart:
        before = self._read_up_to.get(head.writer, 0)
        if head.seq == before:
            return ChainPart([], [])
        return history.part(head.writer, before, head.seq, self._wanted)

    def _is_out_of_patience(self) -> bool:
        now = self._steady()
        if self._away_since is None:
            self._away_since = now
        return now - self._away_since > PATIENCE_SECONDS


def _time_of(event: Event) -> str:
    return str(event.get("timestampUtc"))


def _require_no_shorter(heads: list[ChainHead], read_up_to: Mapping[str, int]) -> None:
    reached = {head.writer: head.seq for head in heads}
    for writer, before in read_up_to.items():
        now = reached.get(writer, 0)
        if now < before:
            message = f"the chain of `{writer}` had {before} events and now has {now}"
            raise LedgerProblem(Code.CHAIN_BROKEN, message)
