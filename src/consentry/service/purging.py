"""Removes what has no effect any more, and records that it did.

Rows go together with the event that says how many, or not at all. Events are never purged: old ones
are archived by `consentry audit retain`. Kept effects of runs go by the same moment.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from consentry.base.clock import Clock, Instant
from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.units import Duration
from consentry.base.values import dataclass, field
from consentry.enforce.keptshelf import SHELVES, Item, Keeping, Shelf
from consentry.record.events import EventType
from consentry.store.database import Database, Transaction
from consentry.store.journal import About, Journal
from consentry.store.keeping import count_without_effect, remove_without_effect

SHORTEST: Final = Duration.parse("1d")
"""What was settled later than this may still be on its way to taking effect."""


@dataclass(frozen=True, slots=True)
class Purged:
    """How many rows of each table, all of them settled before a moment.

    `kept` are effects of runs that were kept before it, by shelf.
    """

    before: Instant
    rows: Mapping[str, int]
    kept: Mapping[str, int] = field(default_factory=dict)

    @property
    def total(self) -> int:
        """All rows together."""
        return sum(self.rows.values())


def kept_before(state: Path, keeping: Keeping, before: Instant) -> dict[str, list[Item]]:
    """The effects on each shelf that are over, or have been kept since before a moment."""
    now, span = keeping.clock.now(), keeping.span.milliseconds
    return {
        name: [
            each
            for each in Shelf(state, name).items()
            if each.until < now or each.until.unix_ms - span < before.unix_ms
        ]
        for name in SHELVES
    }


def purge_kept(state: Path, keeping: Keeping, before: Instant) -> dict[str, int]:
    """Removes them, but none that somebody works with; says how many went."""
    return {
        name: sum(Shelf(state, name).remove_unused(each) for each in items)
        for name, items in kept_before(state, keeping, before).items()
    }


class _ChangedMeanwhile(Exception):
    """Other rows fit now than when they were counted."""


def moment_before(clock: Clock, older_than: str) -> Instant:
    """So long ago; raises where that is too recent."""
    span = Duration.parse(older_than)
    if span < SHORTEST:
        raise UsageProblem(
            Code.USAGE,
            f"`{older_than}` is too short: what was settled today may still be needed",
            help_line=f"name a span of {SHORTEST} or more",
        )
    return Instant(max(0, clock.now().unix_ms - span.milliseconds))


def count_purgeable(database: Database, before: Instant) -> Purged:
    """What would be removed now."""
    return Purged(before, count_without_effect(database, before))


def purge(journal: Journal, before: Instant) -> Purged:
    """Removes it, and records how many; where there is nothing, nothing is recorded."""
    while True:
        found = count_purgeable(journal.database, before)
        if not found.total:
            return found
        try:
            _remove(journal, found)
        except _ChangedMeanwhile:
            continue
        return found


def _remove(journal: Journal, found: Purged) -> None:
    def change(transaction: Transaction) -> None:
        if remove_without_effect(transaction, found.before) != found.rows:
            raise _ChangedMeanwhile

    about = About(journal.ledger.history.store_id())
    draft = journal.draft(
        EventType.LEDGER_PURGED,
        about,
        {
            "what": "rows without effect",
            "count": found.total,
            "rows": dict(found.rows),
            "before": str(found.before),
        },
        journal.clock.now(),
    )
    journal.record(draft, change=change)
