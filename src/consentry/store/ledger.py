"""The ledger: one append-only, chained history of every decision and every run.

`append` returns when the event is durable, and raises when it is not: nothing that needs a record
may start after a raise. Threads that append at the same time share one commit. The processes of a
machine share its chain; the head moves in the same transaction as the events, so that two of them
never take the same place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import cast

from consentry.base.canonical import Digest
from consentry.record.chain import ChainFault, ChainHead, ChainRow, follow, start_of
from consentry.record.envelope import Draft, EncodedDraft, LinkedEvent, encode
from consentry.store.database import Database, Row, Transaction, Value

# The body as bytes: one that is no longer valid text must be read to be found out.
_SELECT = "SELECT writer, seq, hash, CAST(body AS BLOB) FROM ledger_event"


@dataclass(frozen=True, slots=True)
class EventFilter:
    """Which events to list; what is not named does not narrow."""

    subject: str | None = None
    type: str | None = None
    session_id: str | None = None
    since: str | None = None
    until: str | None = None

    def conditions(self) -> tuple[str, tuple[Value, ...]]:
        """The WHERE clause and its parameters."""
        wanted = (
            ("subject = ?", self.subject),
            ("type = ?", self.type),
            ("session_id = ?", self.session_id),
            ("at >= ?", self.since),
            ("at < ?", self.until),
        )
        given = [(clause, value) for clause, value in wanted if value is not None]
        if not given:
            return "", ()
        return " WHERE " + " AND ".join(c for c, _ in given), tuple(v for _, v in given)


@dataclass(slots=True)
class _Ticket:
    """Events that wait for a commit, and how it ended."""

    encoded: Sequence[EncodedDraft]
    linked: list[LinkedEvent] = field(default_factory=list)
    problem: BaseException | None = None
    is_done: bool = False


class Ledger:
    """The history in one database, as one writer appends to it."""

    def __init__(self, database: Database, writer: str) -> None:
        self._database = database
        self.writer = writer
        self._waiting: list[_Ticket] = []
        self._waiting_lock = Lock()
        self._commit_lock = Lock()

    def append(self, *drafts: Draft) -> list[LinkedEvent]:
        """Records the events, in this order and together; they are durable when it returns."""
        ticket = _Ticket([encode(draft, self.writer) for draft in drafts])
        with self._waiting_lock:
            self._waiting.append(ticket)
        with self._commit_lock:
            # Whoever held the lock before may have committed this ticket along with its own.
            if not ticket.is_done:
                self._commit_all_waiting()
        if ticket.problem is not None:
            raise ticket.problem
        return ticket.linked

    def _commit_all_waiting(self) -> None:
        with self._waiting_lock:
            batch, self._waiting = self._waiting, []
        try:
            with self._database.writing() as transaction:
                linked = self._link(transaction, batch)
        except BaseException as problem:  # noqa: BLE001 - every waiter must be told
            for ticket in batch:
                ticket.problem, ticket.is_done = problem, True
            return
        for ticket in batch:
            ticket.linked = [next(linked) for _ in ticket.encoded]
            ticket.is_done = True

    def _link(self, transaction: Transaction, batch: Sequence[_Ticket]) -> Iterator[LinkedEvent]:
        head = _head(transaction, self.writer)
        events: list[LinkedEvent] = []
        for ticket in batch:
            for encoded in ticket.encoded:
                event = encoded.linked(head.seq + 1, head.hash)
                head = ChainHead(event.writer, event.seq, event.hash)
                events.append(event)
        transaction.run_many(
            "INSERT INTO ledger_event (writer, seq, hash, body) VALUES (?, ?, ?, ?)",
            [(event.writer, event.seq, event.hash, event.body.decode()) for event in events],
        )
        transaction.run(
            "INSERT INTO ledger_head (writer, seq, hash) VALUES (?, ?, ?) "
            "ON CONFLICT (writer) DO UPDATE SET seq = excluded.seq, hash = excluded.hash",
            (head.writer, head.seq, head.hash),
        )
        return iter(events)

    def heads(self) -> list[ChainHead]:
        """Where each writer's chain ends, as the store says."""
        with self._database.reading() as view:
            return [_as_head(row) for row in view.rows("SELECT * FROM ledger_head ORDER BY writer")]

    def events(self, wanted: EventFilter | None = None) -> Iterator[ChainRow]:
        """The events, oldest first, one by one."""
        where, values = (wanted or EventFilter()).conditions()
        query = f"{_SELECT}{where} ORDER BY at, writer, seq"
        with self._database.reading() as view:
            yield from map(_as_row, view.rows(query, values))

    def find(self, event_id: str) -> ChainRow | None:
        """The event with this id."""
        query = f"{_SELECT} WHERE event_id = ?"
        with self._database.reading() as view:
            return next(map(_as_row, view.rows(query, (event_id,))), None)

    def verify(self) -> "list[ChainHead] | ChainFault":
        """Follows every chain; the heads as found, or the first fault."""
        with self._database.reading() as view:
            stored = [
                _as_head(row) for row in view.rows("SELECT * FROM ledger_head ORDER BY writer")
            ]
            rows = view.rows(f"{_SELECT} ORDER BY writer, seq")
            # The table is strict about its columns' types, so the rows are what they claim to be.
            reached = follow(cast("Iterator[ChainRow]", rows))
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


def _tail_fault(found: ChainHead, stored: ChainHead) -> ChainFault:
    if found.seq < stored.seq:
        return ChainFault(stored.writer, found.seq + 1, None, "is missing")
    return ChainFault(stored.writer, found.seq, None, "is not what the head of the chain names")


def _head(transaction: Transaction, writer: str) -> ChainHead:
    query = "SELECT writer, seq, hash FROM ledger_head WHERE writer = ?"
    return next(map(_as_head, transaction.rows(query, (writer,))), start_of(writer))


def _as_head(row: Row) -> ChainHead:
    writer, seq, found = row
    return ChainHead(str(writer), int(seq or 0), Digest(str(found)))


def _as_row(row: Row) -> ChainRow:
    return ChainRow._make(row)
