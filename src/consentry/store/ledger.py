"""The ledger: one append-only, chained history of every decision and every run.

`append` returns when the event is durable, and raises when it is not: nothing that needs a record
may start after a raise. Threads that append at the same time share one commit. The processes of a
machine share its chain; the head moves in the same transaction as the events, so that two of them
never take the same place. On a shared database every machine has a chain of its own, and waits for
no other.
"""

from collections.abc import Callable, Sequence
from typing import TypeAlias

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.base.values import dataclass
from consentry.record.chain import ChainHead, start_of
from consentry.record.envelope import Draft, EncodedDraft, LinkedEvent, encode
from consentry.store.database import Database, Dialect, Transaction
from consentry.store.groupcommit import GroupCommit
from consentry.store.history import History, as_head
from consentry.store.projections import project
from consentry.store.steps import Reached, Step, unobserved

Change: TypeAlias = Callable[[Transaction], None]
"""What else changes together with the events; it may run twice, of which one is undone."""


@dataclass(frozen=True, slots=True)
class _Work:
    """What one caller wants recorded."""

    drafts: tuple[EncodedDraft, ...]
    change: Change | None


class Ledger:
    """The history in one database, as one writer appends to it."""

    def __init__(self, database: Database, writer: str, reached: Reached = unobserved) -> None:
        self.database = database
        self.writer = writer
        self.history = History(database)
        self._reached = reached
        self._commits = GroupCommit(self._commit, self._sync, _is_fault_of_one)

    def append(self, *drafts: Draft, change: Change | None = None) -> list[LinkedEvent]:
        """Records the events, in this order and together; they are durable when it returns.

        `change` runs in the same transaction, before them. When it raises, nothing is recorded
        and its error reaches this caller alone.
        """
        encoded = tuple(encode(draft, self.writer) for draft in drafts)
        self._reached(Step.QUEUED)
        return self._commits.submit(_Work(encoded, change))

    def close(self) -> None:
        """Lets go of the database."""
        self.database.close()

    def _commit(self, batch: Sequence[_Work]) -> list[list[LinkedEvent]]:
        with self.database.committing() as transaction:
            self._reached(Step.BEGUN)
            head = _head_to_move(transaction, self.writer)
            outcomes = []
            for work in batch:
                if work.change is not None:
                    work.change(transaction)
                    self._reached(Step.CHANGED)
                linked, head = _linked(work.drafts, head)
                outcomes.append(linked)
            self._reached(Step.LINKED)
            self._insert(transaction, [event for linked in outcomes for event in linked], head)
        self._reached(Step.COMMITTED)
        return outcomes

    def _insert(
        self, transaction: Transaction, events: Sequence[LinkedEvent], head: ChainHead
    ) -> None:
        transaction.run_many(
            "INSERT INTO ledger_event (writer, seq, hash, body) VALUES (?, ?, ?, ?)",
            [(event.writer, event.seq, event.hash, event.body.decode()) for event in events],
        )
        self._reached(Step.INSERTED)
        project(transaction, events)
        self._reached(Step.PROJECTED)
        transaction.run(
            "UPDATE ledger_head SET seq = ?, hash = ? WHERE writer = ?",
            (head.seq, head.hash, head.writer),
        )
        self._reached(Step.HEAD_MOVED)

    def _sync(self) -> None:
        self.database.sync()
        self._reached(Step.SYNCED)


def _linked(drafts: Sequence[EncodedDraft], head: ChainHead) -> tuple[list[LinkedEvent], ChainHead]:
    linked = []
    for encoded in drafts:
        event = encoded.linked(head.seq + 1, head.hash)
        head = ChainHead(event.writer, event.seq, event.hash)
        linked.append(event)
    return linked, head


def _is_fault_of_one(problem: Exception) -> bool:
    """Whether one caller's event or change is to blame, and not the database."""
    return not isinstance(problem, LedgerProblem) or problem.code is Code.EVENT_TWICE


_HEAD = {
    Dialect.SQLITE: "SELECT writer, seq, hash FROM ledger_head WHERE writer = ?",
    Dialect.POSTGRESQL: "SELECT writer, seq, hash FROM ledger_head WHERE writer = ? FOR UPDATE",
}


def _head_to_move(transaction: Transaction, writer: str) -> ChainHead:
    """The end of the chain, which nobody else moves until this transaction ends."""
    query = _HEAD[transaction.dialect]
    found = [as_head(row) for row in transaction.rows(query, (writer,))]
    if found:
        return found[0]
    start = start_of(writer)
    transaction.run(
        "INSERT INTO ledger_head (writer, seq, hash) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
        (start.writer, start.seq, start.hash),
    )
    return _head_to_move(transaction, writer)
