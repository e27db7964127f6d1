"""The ledger: one append-only, chained history of every decision and every run.

`append` returns when the event is durable, and raises when it is not: nothing that needs a record
may start after a raise. Threads that append at the same time share one commit. The processes of a
machine share its chain; the head moves in the same transaction as the events, so that two of them
never take the same place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import cast

from consentry.base.canonical import Digest
from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.record.chain import ChainFault, ChainHead, ChainRow, follow, start_of
from consentry.record.envelope import Draft, EncodedDraft, LinkedEvent, encode
from consentry.store.database import Database, Row, Transaction, Value
from consentry.store.groupcommit import GroupCommit

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


class Ledger:
    """The history in one database, as one writer appends to it."""

    def __init__(self, database: Database, writer: str) -> None:
        self._database = database
        self.writer = writer
        self._commits = GroupCommit(self._commit, _is_repeated_event)

    def append(self, *drafts: Draft) -> list[LinkedEvent]:
        """Records the events, in this order and together; they are durable when it returns."""
        return self._commits.submit([encode(draft, self.writer) for draft in drafts])

    def _commit(self, batch: Sequence[list[EncodedDraft]]) -> list[list[LinkedEvent]]:
        with self._database.writing() as transaction:
            head = _head(transaction, self.writer)
            linked: list[list[LinkedEvent]] = []
            for drafts in batch:
                linked.append([])
                for encoded in drafts:
                    event = encoded.linked(head.seq + 1, head.hash)
                    head = ChainHead(event.writer, event.seq, event.hash)
                    linked[-1].append(event)
            transaction.run_many(
                "INSERT INTO ledger_event (writer, seq, hash, body) VALUES (?, ?, ?, ?)",
                [(e.writer, e.seq, e.hash, e.body.decode()) for events in linked for e in events],
            )
            transaction.run(
                "INSERT INTO ledger_head (writer, seq, hash) VALUES (?, ?, ?) "
                "ON CONFLICT (writer) DO UPDATE SET seq = excluded.seq, hash = excluded.hash",
                (head.writer, head.seq, head.hash),
            )
        return linked

    def close(self) -> None:
        """Lets go of the database."""
        self._database.close()

    def store_id(self) -> str:
        """The id of this store, drawn when it was made."""
        with self._database.reading() as view:
            return str(next(view.rows("SELECT id FROM store_identity"))[0])

    def hashes(self, writer: str, most: int) -> Iterator[Digest]:
        """The hashes of a writer's first events, oldest first, one by one."""
        query = "SELECT hash FROM ledger_event WHERE writer = ? ORDER BY seq LIMIT ?"
        with self._database.reading() as view:
            for row in view.rows(query, (writer, most)):
                yield Digest(str(row[0]))

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


def _is_repeated_event(problem: Exception) -> bool:
    return isinstance(problem, LedgerProblem) and problem.code is Code.EVENT_TWICE


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
