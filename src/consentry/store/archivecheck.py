"""Holds the list of archived events to what the ledger recorded when they were archived.

Following the chains shows that every place is taken; an archived event is only a hash there, and
between two of them nothing names the first. What binds them is the `ledger.archived` event, which
stays in the chain: how many events of which writer, from where to where, and the root over their
hashes. Here the list is held against these records, both ways, and no event may have the id of
one that was archived: the database sees to that only within the list and within the ledger.

A root tells that one of its hashes is another, not which; the first event of that part is named
then, and the archive's own file tells which it is. Of the ids in the list only the file tells.
"""

from collections.abc import Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, cast

from consentry.base.canonical import digest_bytes
from consentry.base.errors import BadInput
from consentry.record.archiverecord import ArchivedPart, ArchiveRecord, PartTally, record_in
from consentry.record.chain import ChainFault, ChainRow, event_fields
from consentry.record.events import EventType
from consentry.store.database import Transaction
from consentry.store.eventrows import chain_rows

# An archive's record has the archive's id as its subject; `.` comes right behind `-`.
_RECORDS = " WHERE subject >= 'archive-' AND subject < 'archive.' AND type = ? ORDER BY subject"
_RECORD = " WHERE subject = ? AND type = ?"
_NO_RECORD = "was taken out without a record"
_OTHER_HASH = "is not the hash that was archived"
_UNLISTED = "was archived and is not in the list of what was"


class RecordedArchive(NamedTuple):
    """A record, and the event that holds it; None where the event cannot be read as one."""

    event: ChainRow
    record: ArchiveRecord | None


def recorded_archives(view: Transaction) -> Iterator[RecordedArchive]:
    """What the ledger says of every archive."""
    for row in chain_rows(view, _RECORDS, (EventType.LEDGER_ARCHIVED.value,)):
        yield RecordedArchive(row, _record_of(row))


def recorded_archive(view: Transaction, archive_id: str) -> ArchiveRecord | None:
    """What the ledger says of this archive; None when it has no record of it."""
    found = chain_rows(view, _RECORD, (archive_id, EventType.LEDGER_ARCHIVED.value))
    return next((record for record in map(_record_of, found) if record is not None), None)


def archive_fault(view: Transaction) -> ChainFault | None:
    """The first thing that archives and their records do not agree on; the chains are whole."""
    records: dict[str, ArchiveRecord] = {}
    for event, record in recorded_archives(view):
        if record is None or record.archive_id in records:
            return _fault(event, "does not say what was archived, or says it twice")
        records[record.archive_id] = record
    left = _parts_left(view, records)
    if isinstance(left, ChainFault):
        return left
    for record in records.values():
        parts = {part.writer: part for part in record.parts}
        found = {writer: part for (held, writer), part in left.items() if held == record.archive_id}
        for writer in sorted(parts.keys() | found.keys()):
            fault = _difference(writer, parts.get(writer), found.get(writer))
            if fault is not None:
                return fault
    return _repeated_id(view)


def blamed(view: Transaction, fault: ChainFault) -> ChainFault:
    """The same fault, laid to an archived hash where the event behind it names another one."""
    query = "SELECT hash, event_id FROM archived_event WHERE writer = ? AND seq = ?"
    before = next(iter(view.rows(query, (fault.writer, fault.seq - 1))), None)
    place = " WHERE writer = ? AND seq = ?"
    event = next(chain_rows(view, place, (fault.writer, fault.seq)), None)
    if before is None or event is None or digest_bytes(event.body) != event.hash:
        return fault
    found, event_id = before
    fields = event_fields(event.body)
    is_at_its_place = (fields.get("writer"), fields.get("seq")) == (event.writer, event.seq)
    if not is_at_its_place or fields.get("prev") == found:
        return fault
    return ChainFault(fault.writer, fault.seq - 1, str(event_id), _OTHER_HASH)


def _record_of(row: ChainRow) -> ArchiveRecord | None:
    fields = event_fields(row.body)
    payload = fields.get("payload")
    try:
        record = record_in(payload) if isinstance(payload, dict) else None
    except BadInput:
        return None
    # Otherwise one archive could be recorded under the name of another.
    return record if record is not None and fields.get("subject") == record.archive_id else None


def _parts_left(
    view: Transaction, records: Mapping[str, ArchiveRecord]
) -> dict[tuple[str, str], ArchivedPart] | ChainFault:
    """What is listed as archived, by archive and writer; or the first event without a record."""
    query = (
        "SELECT archive_id, writer, seq, hash, event_id FROM archived_event ORDER BY writer, seq"
    )
    tallies: dict[tuple[str, str], PartTally] = {}
    # The table is strict about its columns' types, so the rows are what they claim to be.
    rows = cast("Iterator[tuple[str, str, int, str, str]]", view.rows(query))
    for key, run in groupby(rows, key=itemgetter(0, 1)):
        if key[0] not in records:
            _, writer, seq, _, event_id = next(run)
            return ChainFault(writer, seq, event_id, _NO_RECORD)
        tally = tallies.setdefault(key, PartTally(key[1]))
        try:
            tally.take((seq, found, event_id) for _, _, seq, found, event_id in run)
        except BadInput:
            return ChainFault(key[1], tally.last_seq, None, _OTHER_HASH)
    return {key: tally.part() for key, tally in tallies.items()}


def _difference(
    writer: str, recorded: ArchivedPart | None, found: ArchivedPart | None
) -> ChainFault | None:
    if recorded == found:
        return None
    if recorded is None or found is None:
        part = cast("ArchivedPart", recorded or found)
        return ChainFault(
            writer, part.first_seq, None, _NO_RECORD if recorded is None else _UNLISTED
        )
    if found.first_seq < recorded.first_seq:
        return ChainFault(writer, found.first_seq, None, _NO_RECORD)
    if found.last_seq > recorded.last_seq:
        return ChainFault(writer, found.last_seq, None, _NO_RECORD)
    if found.events > recorded.events:
        why = _NO_RECORD
    elif found.events < recorded.events:
        why = _UNLISTED
    else:
        why = _OTHER_HASH
    if recorded.events > 1:
        why = f"or one of those archived with it, up to event {recorded.last_seq}, {why}"
    return ChainFault(writer, recorded.first_seq, None, why)


def _repeated_id(view: Transaction) -> ChainFault | None:
    # In SQLite a cross join keeps the order it is written in: a ledger without archives is not read.
    query = (
        "SELECT e.writer, e.seq, e.event_id FROM archived_event a CROSS JOIN ledger_event e "
        "WHERE e.event_id = a.event_id ORDER BY e.writer, e.seq LIMIT 1"
    )
    for writer, seq, event_id in cast("Iterator[tuple[str, int, str]]", view.rows(query)):
        return ChainFault(writer, seq, event_id, "has the id of an event that was archived")
    return None


def _fault(event: ChainRow, why: str) -> ChainFault:
    event_id = event_fields(event.body).get("eventId")
    return ChainFault(event.writer, event.seq, str(event_id), why)
