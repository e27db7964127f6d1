"""Fills the tables that follow from events anew, and records that it was done.

The chains are followed first: from events that were changed, the tables would only tell the same
wrong story. The events that fill tables are never archived, so the ledger has all of them. The
tables change in one step and the record follows; a program that ends in between leaves tables that
are what the events say.
"""

from consentry.record.events import EventType
from consentry.service.audit import require_sound
from consentry.store.journal import About, Journal
from consentry.store.rebuild import Rebuilt, rebuild

SUBJECT = "ledger:tables"


def rebuild_tables(journal: Journal) -> Rebuilt:
    """Makes the tables what the events say; how many rows each has, and from how many events."""
    require_sound(journal.ledger.history)
    rebuilt = rebuild(journal.database)
    draft = journal.draft(
        EventType.LEDGER_REBUILT,
        About(SUBJECT),
        {"tables": sorted(rebuilt.rows), "events": rebuilt.events},
        journal.clock.now(),
    )
    journal.ledger.append(draft)
    return rebuilt
