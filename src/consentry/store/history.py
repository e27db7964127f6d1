"""The reading side of the ledger: lists, finds and verifies what was recorded.

Needs no writer and no right to write. Every question is answered from one consistent view of the
database, and rows come one by one, so that memory does not grow with the number of events.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import cast

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.base.values import dataclass
from consentry.record.chain import ChainFault, ChainHead, ChainRow, follow, start_of
from consentry.store.archivecheck import archive_fault, blamed
from consentry.store.database import Database, Dialect, Row, Transaction, Value
from consentry.store.eventrows import SELECT_EVENTS, SELECT_PLACED, chain_rows
from consentry.store.migrations import NEWEST, version_of

_ORDER = "ORDER BY at, writer, seq"
_LATEST = "ORDER BY at DESC, writer DESC, seq DESC LIMIT ?"
_LATEST_TIME = "SELECT at FROM ledger_event ORDER BY at DESC LIMIT 1"


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events to list; what is not named does not narrow."""

    subject: str | None = None
    type: str | None = None
    session_id: str | None = None
    decision: str | None = None
    since: str | None = None
    until: str | None = None

    def conditions(self) -> tuple[str, tuple[Value, ...]]:
        """The WHERE clause and its parameters."""
        wanted = (
            ("subject = ?", self.subject),
            ("type = ?", self.type),
            ("session_id = ?", self.session_id),
            ("decision = ?", self.decision),
            ("at >= ?", self.since),
            ("at < ?", self.until),
        )
        given = [(clause, value) for clause, value in wanted if value is not None]
        if not given:
            return "", ()
        return " WHERE " + " AND ".join(c for c, _ in given), tuple(v for _, v in given)


@dataclass(frozen=True, slots=True)
class Archived:
    """Events of one writer that are in an archive, and not in the ledger any more."""

    writer: str
    archive_id: str
    events: int
    first_seq: int
    last_seq: int


@dataclass(frozen=True, slots=True)
class ChainPart:
    """A part of one chain: the events of it that fit, and what was archived of it."""

    rows: list[ChainRow]
    archived: list[Archived]


class History:
    """What one database has recorded, by all its writers."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def latest_time(self) -> str | None:
        """The time of the latest event, by the clock of whoever recorded it; None where there is none."""
        with self.database.reading() as view:
            return next((str(row[0]) for row in view.rows(_LATEST_TIME)), None)

    def require_known_shape(self) -> None:
        """Raises unless the database has the version that this program reads."""
        with self.database.reading() as view:
            at = version_of(view)
        if at > NEWEST:
            message = f"the database has version {at}, this program knows {NEWEST}"
            raise LedgerProblem(Code.LEDGER_NEWER, message)
        if at < NEWEST:
            message = f"the database has version {at}, this program reads {NEWEST}"
            raise LedgerProblem(Code.LEDGER_OLDER, message)

    def store_id(self) -> str:
        """The id of this store, drawn when it was made."""
        with self.database.reading() as view:
            return str(next(iter(view.rows("SELECT id FROM store_identity")))[0])

    def heads(self) -> list[ChainHead]:
        """Where every chain ends, as stored."""
        with self.database.reading() as view:
            return _stored_heads(view)

    def hashes(self, writer: str, most: int) -> Iterator[Digest]:
        """The hashes of a writer's first events, oldest first, archived ones included."""
        query = (
            "SELECT seq, hash FROM archived_event WHERE writer = ? UNION ALL "
            "SELECT seq, hash FROM ledger_event WHERE writer = ? ORDER BY seq LIMIT ?"
        )
        with self.database.reading() as view:
            for row in view.rows(query, (writer, writer, most)):
                yield Digest(str(row[1]))

    def events(self, wanted: EventFilter | None = None) -> Iterator[ChainRow]:
        """The events that fit, oldest first, one by one."""
        where, values = (wanted or EventFilter()).conditions()
        with self.database.reading() as view:
            yield from chain_rows(view, f"{where} {_ORDER}", values)

    def latest(self, wanted: EventFilter, most: int) -> list[ChainRow]:
        """The latest of the events that fit, oldest first."""
        where, values = wanted.conditions()
        with self.database.reading() as view:
            found = list(chain_rows(view, f"{where} {_LATEST}", (*values, most)))
        return found[::-1]

    def part(self, writer: str, after: int, upto: int, wanted: EventFilter) -> ChainPart:
        """What the writer recorded behind its event `after`, up to its event `upto`."""
        where, values = wanted.conditions()
        within = "writer = ? AND seq > ? AND seq <= ?"
        fitting = f"{where} {'AND' if where else 'WHERE'} {within} ORDER BY seq"
        gone = (
            "SELECT writer, archive_id, COUNT(*), MIN(seq), MAX(seq) FROM archived_event "  # noqa: S608 - no value in it
            f"WHERE {within} GROUP BY writer, archive_id ORDER BY MIN(seq)"
        )
        place = (writer, after, upto)
        # One view for both: an event is in the ledger or in an archive, never in neither.
        with self.database.reading() as view:
            rows = list(chain_rows(view, fitting, (*values, *place)))
            archived = [_as_archived(row) for row in view.rows(gone, place)]
        return ChainPart(rows, archived)

    def find(self, event_id: str) -> ChainRow | None:
        """The event with this id, unless it was archived."""
        with self.database.reading() as view:
            return next(chain_rows(view, " WHERE event_id = ?", (event_id,)), None)

    def archive_of(self, event_id: str) -> str | None:
        """The id of the archive that holds this event."""
        query = "SELECT archive_id FROM archived_event WHERE event_id = ?"
        with self.database.reading() as view:
            return next((str(row[0]) for row in view.rows(query, (event_id,))), None)

    def verify(self) -> "list[ChainHead] | ChainFault":
        """Follows every chain and holds archives to their record; the heads, or the first fault."""
        with self.database.reading() as view, _damage_told():
            stored = _stored_heads(view)
            if not _is_sound_as_it_lies(view, stored):
                # Once more, chain by chain: slower, and sure to meet the first fault first.
                found = _verified(follow(_placed(view)), stored)
                if isinstance(found, ChainFault):
                    return blamed(view, found)
            fault = archive_fault(view)
            return [head for head in stored if head.seq] if fault is None else fault


def _is_sound_as_it_lies(view: Transaction, stored: list[ChainHead]) -> bool:
    """Whether the events, read in the order the file has them, are whole and nothing is archived."""
    if _has_archives(view):
        return False
    order = " ORDER BY id" if view.dialect is Dialect.SQLITE else " ORDER BY writer, seq"
    rows = cast("Iterator[ChainRow]", view.rows(SELECT_EVENTS[view.dialect] + order))
    try:
        return not isinstance(_verified(follow(rows), stored), ChainFault)
    except TypeError:
        return False  # a damaged file, see `_damage_told`


@contextmanager
def _damage_told() -> Iterator[None]:
    """SQLite checks the types of columns when they are written; a damaged file may hold any."""
    try:
        yield
    except (TypeError, ValueError) as problem:
        message = "a table of the ledger holds something else than it should"
        raise LedgerProblem(Code.LEDGER_CORRUPT, message) from problem


def _verified(
    reached: dict[str, ChainHead] | ChainFault, stored: list[ChainHead]
) -> list[ChainHead] | ChainFault:
    """The heads, if they are where the chains end."""
    if isinstance(reached, ChainFault):
        return reached
    for head in stored:
        found = reached.get(head.writer, start_of(head.writer))
        if found != head:
            return _tail_fault(found, head)
    unknown = sorted(reached.keys() - {head.writer for head in stored})
    if unknown:
        return ChainFault(unknown[0], 1, None, "belongs to a writer without a head")
    return stored


def _placed(view: Transaction) -> Iterator[ChainRow]:
    """Every event at its place, archived ones without a body."""
    query = SELECT_PLACED[view.dialect]
    if _has_archives(view):
        query += " UNION ALL SELECT writer, seq, hash, NULL FROM archived_event"
    return cast("Iterator[ChainRow]", view.rows(f"{query} ORDER BY writer, seq"))


def _has_archives(view: Transaction) -> bool:
    return any(True for _ in view.rows("SELECT 1 FROM archived_event LIMIT 1"))


def _stored_heads(view: Transaction) -> list[ChainHead]:
    # Sorted by what is in the rows: in SQLite the index has a second copy of the writer.
    query = "SELECT writer, seq, hash FROM ledger_head ORDER BY writer || ''"
    return [as_head(row) for row in view.rows(query)]


def _tail_fault(found: ChainHead, stored: ChainHead) -> ChainFault:
    if found.seq < stored.seq:
        return ChainFault(stored.writer, found.seq + 1, None, "is missing")
    return ChainFault(stored.writer, found.seq, None, "is not what the head of the chain names")


def _as_archived(row: Row) -> Archived:
    writer, archive_id, events, first, last = row
    return Archived(str(writer), str(archive_id), int(events or 0), int(first or 0), int(last or 0))


def as_head(row: Row) -> ChainHead:
    """A row of writer, seq and hash."""
    writer, seq, found = row
    return ChainHead(str(writer), int(seq or 0), Digest(str(found)))
