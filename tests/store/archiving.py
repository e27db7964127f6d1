"""Old events and their archive, for tests of the store; also the program that ends in the middle."""

import os
import signal
import sys
from pathlib import Path
from typing import Any

from consentry.base.canonical import Digest
from consentry.base.clock import Instant
from consentry.record.archiverecord import ArchiveRecord, parts_of
from consentry.record.chain import event_fields
from consentry.record.envelope import Draft
from consentry.record.events import EventType
from consentry.store.archive import Selection, chosen_events, take_out
from consentry.store.database import Database
from consentry.store.ledger import Ledger
from consentry.store.postgres import PostgresDatabase
from consentry.store.sqlite import SqliteDatabase
from consentry.store.steps import Step
from tests.record.payloads import sample_draft, sample_id
from tests.record.samples import CONTEXT, WRITER, Drafts

OTHER = "machine-" + "2" * 32
START = Instant(1_767_225_600_000)
"""When the first of `Drafts` was not made yet; each comes a second after the one before it."""


def at_second(count: int) -> Instant:
    """The moment of the draft of that number; everything before it is older."""
    return Instant(START.unix_ms + 1000 * count)


def all_before(count: int) -> Selection:
    """Every event that is older than the draft of that number."""
    return Selection(at_second(count), at_second(count))


def draft_of(drafts: Drafts, event_type: EventType, **changes: Any) -> Draft:
    """The next draft, of that type."""
    drafts.make()
    if event_type is EventType.PERMISSION_ESCALATION_DECIDED:
        changes = {"id": drafts.ids.new("escalation"), **changes}
    return sample_draft(event_type, drafts.ids, drafts.clock, CONTEXT, **changes)


def record_of(database: Database, selection: Selection, number: int = 1) -> ArchiveRecord:
    """The record of an archive that holds what the selection has now."""
    with database.reading() as view:
        rows = [
            (row.writer, row.seq, row.hash, str(event_fields(row.body)["eventId"]))
            for row in chosen_events(view, selection)
        ]
    archive_id, digest = sample_id("archive", number), Digest("sha256:" + "a" * 64)
    return ArchiveRecord(archive_id, digest, selection.before, "30d", parts_of(rows))


def taken_out(
    ledger: Ledger, drafts: Drafts, selection: Selection, record: ArchiveRecord | None = None
) -> ArchiveRecord:
    """Archives what the selection has, but for the file."""
    record = record or record_of(ledger.database, selection)
    recording = record_draft(drafts, record)
    ledger.append(recording, change=lambda transaction: take_out(transaction, selection, record))
    return record


def record_draft(drafts: Drafts, record: ArchiveRecord) -> Draft:
    """The event that records an archive."""
    return Draft(
        drafts.ids.new("event"),
        EventType.LEDGER_ARCHIVED,
        drafts.clock.now(),
        record.archive_id,
        CONTEXT,
        record.payload(),
    )


def count_of(database: Database, table: str) -> int:
    """How many rows the table has."""
    with database.reading() as view:
        [(count,)] = view.rows(f"SELECT COUNT(*) FROM {table}")  # noqa: S608 - a name of ours
    return int(count or 0)


def archive_and_die(place: str, step: str, count: str) -> None:
    """Archives everything before the draft of that number, and kills itself at that step."""

    def strike(reached: Step) -> None:
        if reached is Step[step]:
            os.kill(os.getpid(), signal.SIGKILL)

    is_file = place.startswith("/")
    database: Database = SqliteDatabase(Path(place)) if is_file else PostgresDatabase(place)
    ledger = Ledger(database, WRITER, strike)
    drafts = Drafts()
    for _ in range(int(count)):  # so that the record's id and time are new
        drafts.make()
    taken_out(ledger, drafts, all_before(int(count)))


if __name__ == "__main__":
    archive_and_die(*sys.argv[1:])
