"""Archives old events: sealed in a file first, then taken out of the ledger in one step.

1. Every chain is followed: what is not sound is not archived, lest the archive make it look kept.
2. The events are written to a new file, which is read back to its end, checked and synced.
3. One transaction records the archive, leaves each event's hash in its place, and takes the events
   out, if they are still the ones that the file holds.

Whatever ends the program before the third step has changed nothing in the ledger; the file it may
leave behind can be deleted, and `audit verify --archive` says so. After it, everything is moved.

How old is old enough: a span or a moment that was named; but a `tool.audit` event that says itself
how long it is to stay (`retainLogs` of its tool's `auditConfig`) stays that long where that is longer,
and so do the events that say what became of effects. Where nothing was named, only events that say so
themselves are archived, each when its own time is over.
"""

from typing import Final

from consentry.base.clock import Clock, Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, LedgerProblem, Refused, UsageProblem
from consentry.base.units import Duration
from consentry.base.values import dataclass
from consentry.record.archiveends import ARCHIVE_PREFIX, ArchiveHeader
from consentry.record.archivefile import write_archive
from consentry.record.archiverecord import BY_THEIR_OWN, ArchiveRecord
from consentry.record.events import EventType
from consentry.service.archives import SealedArchive, read_sealed
from consentry.service.audit import require_sound
from consentry.service.userfiles import new_file
from consentry.store.archive import (
    ChosenOf,
    Selection,
    at_most,
    chosen,
    chosen_events,
    own_spans,
    take_out,
)
from consentry.store.database import Database, Transaction
from consentry.store.journal import About, Journal

MOST_EVENTS: Final = 100_000
"""In one archive: to take out more at once would keep other writers waiting until they give up."""


@dataclass(frozen=True, slots=True)
class Age:
    """How old is old enough: `before` is None where each event's own `retainLogs` decides."""

    now: Instant
    before: Instant | None
    words: str

    @classmethod
    def asked_for(cls, clock: Clock, older_than: str | None, before: str | None) -> "Age":
        """As a person asked for it; read here, before anything is opened."""
        now = clock.now()
        if older_than is not None and before is not None:
            message = "`--older-than` and `--before` both say how old is old enough"
            raise UsageProblem(Code.USAGE, message, help_line="leave one of the two out")
        if before is not None:
            moment = Instant.parse(before)
            if moment > now:
                raise UsageProblem(
                    Code.USAGE,
                    f"`{before}` lies in the future",
                    help_line="name a moment that is past; younger events are still being recorded",
                )
            return cls(now, moment, str(now.since(moment)))
        if older_than is None:
            return cls(now, None, BY_THEIR_OWN)
        span = Duration.parse(older_than)
        return cls(now, _ago(now, span), str(span))


@dataclass(frozen=True, slots=True)
class OldEvents:
    """The events that are old enough, writer by writer; `has_more` when one archive cannot hold all."""

    selection: Selection
    writers: tuple[ChosenOf, ...]
    has_more: bool

    @property
    def events(self) -> int:
        """How many there are."""
        return sum(each.events for each in self.writers)


def find_old(database: Database, age: Age, most: int = MOST_EVENTS) -> OldEvents:
    """What would be archived now; the oldest of it, where it is more than one archive may hold."""
    with database.reading() as view:
        wanted = _selection(view, age)
        narrowed = at_most(view, wanted, most)
        writers = tuple(chosen(view, narrowed))
    return OldEvents(narrowed, writers, has_more=narrowed != wanted)


def retain(
    journal: Journal, age: Age, file: str, most: int = MOST_EVENTS
) -> tuple[OldEvents, ArchiveRecord | None]:
    """Archives what is old enough in a new file; the record is None when nothing is."""
    history = journal.ledger.history
    require_sound(history)
    old = find_old(journal.database, age, most)
    if not old.events:
        return old, None
    archive_id = journal.ids.new(ARCHIVE_PREFIX)
    header = ArchiveHeader(archive_id, history.store_id(), journal.clock.now())
    sealed = _sealed(journal.database, header, old.selection, file)
    before = old.selection.before
    record = ArchiveRecord(archive_id, sealed.digest, before, age.words, sealed.parts)
    try:
        _take_out(journal, old.selection, record)
    except Refused as problem:
        told = f"delete `{file}`, then run the command again: another one archived at that time"
        raise Refused(problem.code, problem.message, help_line=told) from problem
    except LedgerProblem as problem:
        # Whether it was committed is not always known here, so the file stays.
        told = f"`consentry audit verify --archive {file}` says whether the file is still needed"
        raise LedgerProblem(problem.code, problem.message, help_line=told) from problem
    return old, record


def _sealed(
    database: Database, header: ArchiveHeader, selection: Selection, file: str
) -> SealedArchive:
    """The archive as it is read from the file; the file is on disk, or there is none."""
    with new_file(file) as fresh:
        with database.reading() as view:
            footer = write_archive(header, chosen_events(view, selection), fresh.write)
        fresh.flush()
        sealed = read_sealed(file)
        if (sealed.header, sealed.footer) != (header, footer):
            message = f"`{file}` does not hold what was written to it"
            raise UsageProblem(Code.FILE_UNUSABLE, message)
    return sealed


def _take_out(journal: Journal, selection: Selection, record: ArchiveRecord) -> None:
    about, now = About(record.archive_id), journal.clock.now()
    draft = journal.draft(EventType.LEDGER_ARCHIVED, about, record.payload(), now)

    def change(transaction: Transaction) -> None:
        take_out(transaction, selection, record)

    journal.record(draft, change=change)


def _selection(view: Transaction, age: Age) -> Selection:
    before = age.before or age.now
    limits = {}
    for text in own_spans(view, before):
        try:
            limits[text] = _ago(age.now, Duration.parse(text))
        except BadInput:
            # Not a span that anybody can have meant; the event is kept as others of its age are.
            continue
    return Selection(before, age.before, limits)


def _ago(now: Instant, span: Duration) -> Instant:
    """So long ago, but not before there were computers to record it."""
    return Instant(max(0, now.unix_ms - span.milliseconds))
