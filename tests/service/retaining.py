"""A ledger with old events and somebody who archives them; also the program that ends in the middle."""

import os
import resource
import signal
import sys
from pathlib import Path
from typing import Any

from consentry.base.clock import ManualClock, SystemClock
from consentry.base.ids import IdSource, Uuid7Ids
from consentry.base.units import Duration
from consentry.record.envelope import Draft
from consentry.record.events import EventType
from consentry.service.retention import Age, retain
from consentry.store.database import Database
from consentry.store.journal import Journal
from consentry.store.ledger import Ledger
from consentry.store.postgres import PostgresDatabase
from consentry.store.sqlite import SqliteDatabase
from consentry.store.steps import Reached, Step, unobserved
from tests.record.payloads import sample_draft
from tests.record.samples import CONTEXT, WRITER
from tests.store.archiving import START

DAY = Duration.parse("1d")


class Keeping:
    """A journal on a clock that moves a day with each event."""

    def __init__(
        self, database: Database, reached: Reached = unobserved, ids: IdSource | None = None
    ) -> None:
        self.clock = ManualClock(START)
        ids = ids or Uuid7Ids(SystemClock())
        self.journal = Journal(Ledger(database, WRITER, reached), ids, self.clock, CONTEXT)

    def happens(self, days: int = 1, kind: EventType = EventType.TOOL_AUDIT, **more: Any) -> None:
        """So many events, one at the end of each day."""
        drafts = [self._next(kind, more) for _ in range(days)]
        self.journal.ledger.append(*drafts)

    def _next(self, kind: EventType, more: dict[str, Any]) -> Draft:
        self.clock.advance(DAY)
        return sample_draft(kind, self.journal.ids, self.clock, CONTEXT, **more)

    def age(self, older_than: str | None = None, before: str | None = None) -> Age:
        """How old is old enough, seen from now."""
        return Age.asked_for(self.clock, older_than, before)

    def days(self) -> list[int]:
        """On which days the events happened that are in the ledger."""
        history = self.journal.ledger.history
        heads = history.verify()
        assert isinstance(heads, list), heads
        return [row.seq for row in history.events()]


def opened(place: str) -> Database:
    """The store at that path or URL."""
    return SqliteDatabase(Path(place)) if place.startswith("/") else PostgresDatabase(place)


def retain_and_die(place: str, days: str, out: str, when: str) -> None:
    """Archives all events, and is killed at a step, or when the file has grown to a size."""

    def strike(reached: Step) -> None:
        if reached.name == when:
            os.kill(os.getpid(), signal.SIGKILL)

    keeping = Keeping(opened(place), strike)
    keeping.clock.advance(Duration((int(days) + 1) * DAY.milliseconds))
    if when.isdigit():
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(when), int(when)))
    retain(keeping.journal, keeping.age("0s"), out)


if __name__ == "__main__":
    retain_and_die(*sys.argv[1:])
