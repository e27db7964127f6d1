"""A ledger on a real file, for tests; also the program that other processes run."""

import sys
from pathlib import Path

from consentry.base.clock import SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.store.ledger import Ledger
from consentry.store.migrations import migrate
from consentry.store.sqlite import SqliteDatabase
from tests.record.samples import WRITER, Drafts


def open_ledger(path: Path, writer: str = WRITER) -> Ledger:
    """A ledger in that file, its tables made."""
    database = SqliteDatabase(path)
    migrate(database)
    return Ledger(database, writer)


def fresh_drafts() -> Drafts:
    """Drafts whose ids no other process makes."""
    return Drafts(Uuid7Ids(SystemClock()))


def append_and_tell(path: str, count: str) -> None:
    """Appends, and says each id on standard output as soon as it is acknowledged."""
    ledger, drafts = open_ledger(Path(path)), fresh_drafts()
    for number in range(int(count)):
        [event] = ledger.append(drafts.make(n=number))
        sys.stdout.write(f"{event.draft.event_id}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    append_and_tell(*sys.argv[1:])
