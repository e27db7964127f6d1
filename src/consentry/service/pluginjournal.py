"""The ledger as the loader of plugins writes it: as this user, in no session of anybody's."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

from consentry.base.clock import Clock
from consentry.base.ids import Uuid7Ids
from consentry.record.envelope import Context
from consentry.service.identity import local_user
from consentry.service.ledgers import ledger_for_writing
from consentry.service.surroundings import Surroundings
from consentry.store.journal import Journal


@contextmanager
def journal_for_plugins(around: Surroundings, clock: Clock) -> Iterator[Journal]:
    """Open for as long as the block lasts; whatever else is open in this process stays as it is."""
    with closing(ledger_for_writing(around, clock)) as ledger:
        context = Context(local_user(around, ledger.writer), ledger.writer)
        yield Journal(ledger, Uuid7Ids(clock), clock, context)
