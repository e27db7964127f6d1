"""Certification in a process of its own that is killed in the middle, for the proof that nothing stays.

python -m tests.service.certifying PLACE APPEND    is killed when that append of its own is durable
"""

import os
import signal
import sys
from contextlib import closing

from consentry.base.clock import SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.record.envelope import Context
from consentry.service.certification import CheckedCase, certify
from consentry.service.fixtures import new_drill_id
from consentry.store.database import Database
from consentry.store.journal import Journal
from consentry.store.ledger import Ledger
from consentry.store.steps import Reached, Step, unobserved
from tests.decide.samples import OWNER
from tests.record.samples import WRITER
from tests.store.keepers import open_place


class _KilledAfter:
    """Ends the process when an append is durable, as by `kill -9`."""

    def __init__(self, append: int) -> None:
        self._left = append

    def __call__(self, step: Step) -> None:
        if step is not Step.SYNCED:
            return
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        self._left -= 1


def journal_of(database: Database, reached: Reached = unobserved) -> Journal:
    """A journal there, for whoever certifies."""
    clock = SystemClock()
    context = Context(OWNER, WRITER)
    return Journal(Ledger(database, WRITER, reached), Uuid7Ids(clock), clock, context)


def certified(database: Database, reached: Reached = unobserved) -> list[CheckedCase]:
    """The whole corpus, tried there."""
    journal = journal_of(database, reached)
    return certify(journal, new_drill_id(journal.ids))


if __name__ == "__main__":
    with closing(open_place(sys.argv[1])) as opened:
        certified(opened, _KilledAfter(int(sys.argv[2])))
