"""Attempts at transactions in the store: every step is a row changed and an event written, or neither.

A step says which version of the attempt it saw; of two processes that take a step at once one is told
`Overtaken` and looks again. What must hold in the moment of a step is asked inside its transaction: that the
key belongs to nobody else, and that no attempt blocks the document.

Reading checks what was written: an attempt whose row is not what this program writes is not believed, and a
preview or journal is held against the hashes that the attempt has.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from consentry.base.canonical import Json, canonical_json
from consentry.base.codes import Code
from consentry.base.errors import BadInput, ConsentryError, LedgerProblem, Refused, UsageProblem
from consentry.base.values import dataclass, replace
from consentry.decide.identity import Identity, Role
from consentry.decide.statechange import EntityWrite
from consentry.decide.txattempt import Attempt
from consentry.decide.txstep import Step
from consentry.record.envelope import Draft
from consentry.record.events import EventType
from consentry.record.transactionstates import TransactionState
from consentry.store.asking import Asking
from consentry.store.database import Row, Transaction, Value
from consentry.store.journal import About, Journal
from consentry.store.ledger import Change
from consentry.store.modulechecks import Recording
from consentry.store.rows import Overtaken
from consentry.store.transactioncontents import (
    INSERT_CONTENT,
    Drawn,
    content_row,
    drawn_of,
    writes_of,
)
from consentry.store.transactionholds import BLOCK, Block, blocks_of, take_key

Kept = TypeVar("Kept")

_S = TransactionState
_SELECT: Final = (
    "SELECT tx_id, attempt_no, document_id, host_id, module_id, state, version, created_at, changed_at, "
    "request_id, attempt FROM transaction_attempt"
)
_ONE: Final = "tx_id = ? AND attempt_no = ?"
_LATEST: Final = (
    "attempt_no = (SELECT max(attempt_no) FROM transaction_attempt AS other "
    "WHERE other.tx_id = transaction_attempt.tx_id)"
)
_INSERT: Final = (
    "INSERT INTO transaction_attempt (tx_id, attempt_no, document_id, host_id, module_id, state, version, "
    "created_at, changed_at, request_id, attempt) "
    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
_UPDATE: Final = (
    "UPDATE transaction_attempt SET state = ?, version = ?, changed_at = ?, request_id = ?, attempt = ? "
    "WHERE tx_id = ? AND attempt_no = ? AND version = ?"
)


@dataclass(frozen=True, slots=True)
class TxChoice:
    """Which attempts are listed; what is not named does not narrow."""

    host_id: str | None = None
    document_id: str | None = None
    module_id: str | None = None
    states: Sequence[TransactionState] = ()
    latest_only: bool = True


class StoredTransactions:
    """The transactions of one store."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal

    def begin(
        self,
        steps: Sequence[Step],
        drawn: Drawn,
        asking: Asking | None = None,
        after: Attempt | None = None,
        beside: Recording | None = None,
    ) -> Attempt:
        """Keeps a new attempt, which took these steps already; `after` is the one that failed before it."""
        latest = steps[-1].after
        kept = replace(latest, version=len(steps))
        row, content = _row(kept), content_row(kept, drawn)
        others = [each for each in (asking, beside) if each is not None]
        drafts = [*self._drafts(steps), *(draft for each in others for draft in each.drafts)]

        def change(transaction: Transaction) -> None:
            if after is not None:
                _update(transaction, replace(after, version=after.version + 1), after.version)
            if transaction.run(_INSERT, row) != 1:
                raise Overtaken
            transaction.run(INSERT_CONTENT, content)
            for each in others:
                each.change(transaction)

        self._journal.record(*drafts, change=change)
        return kept

    def take(
        self, *steps: Step, drafts: Sequence[Draft] = (), change: Change | None = None
    ) -> Attempt:
        """Takes the steps together; raises `Overtaken` where the attempt is not any more what was seen."""
        kept, own_drafts, own_change = self.taking(*steps)

        def together(transaction: Transaction) -> None:
            if change is not None:
                change(transaction)
            own_change(transaction)

        self._journal.record(*own_drafts, *drafts, change=together)
        return kept

    def taking(self, *steps: Step) -> tuple[Attempt, tuple[Draft, ...], Change]:
        """The attempt after these steps, with the events and the change that make it so."""
        seen = steps[-1].after.version
        kept = replace(steps[-1].after, version=seen + len(steps))
        now = self._journal.clock.now()

        def change(transaction: Transaction) -> None:
            for each in steps:
                if each.after.state is _S.APPLYING:
                    self._require_free(transaction, each.after)
                if each.after.state in (_S.APPLYING, _S.ROLLBACK_PENDING):
                    take_key(transaction, each.after)
                if each.after.state is _S.FAILED_TERMINAL:
                    block = (kept.document_id, kept.tx_id, kept.attempt_no, str(now))
                    transaction.run(BLOCK, block)
            _update(transaction, kept, seen)

        return kept, tuple(self._drafts(steps)), change

    def keep(self, attempt: Attempt) -> Attempt:
        """Keeps what is no step: under which key a commit is about to be taken back."""
        kept = replace(attempt, version=attempt.version + 1)
        with self._journal.database.writing() as transaction:
            _update(transaction, kept, attempt.version)
        return kept

    def find(self, tx_id: str, attempt_no: int | None = None) -> Attempt | None:
        """The attempt; the latest where no number is given."""
        if attempt_no is None:
            rest = "WHERE tx_id = ? ORDER BY attempt_no DESC LIMIT 1"
            found = self._selected(rest, (tx_id,))
        else:
            found = self._selected(f"WHERE {_ONE}", (tx_id, attempt_no))
        return found[0] if found else None

    def required(self, tx_id: str, attempt_no: int | None = None) -> Attempt:
        """As `find`; raises where there is none."""
        found = self.find(tx_id, attempt_no)
        if found is None:
            raise UsageProblem(Code.TX_UNKNOWN, f"no transaction has the id `{tx_id}`")
        return found

    def beginning(self, prefix: str) -> Sequence[str]:
        """The transactions whose id begins so."""
        query = "SELECT DISTINCT tx_id FROM transaction_attempt WHERE tx_id >= ? AND tx_id < ? ORDER BY tx_id"
        with self._journal.database.reading() as view:
            return [str(row[0]) for row in view.rows(query, (prefix, f"{prefix}~"))]

    def attempts(self, tx_id: str) -> Sequence[Attempt]:
        """Every attempt of a transaction, the first one first."""
        return self._selected("WHERE tx_id = ? ORDER BY attempt_no", (tx_id,))

    def listed(self, choice: TxChoice, most: int = 100) -> Sequence[Attempt]:
        """Those that fit, the newest first."""
        named: list[tuple[str, Value]] = [
            (f"{column} = ?", value)
            for column, value in (
                ("host_id", choice.host_id),
                ("document_id", choice.document_id),
                ("module_id", choice.module_id),
            )
            if value is not None
        ]
        clauses = [clause for clause, _ in named]
        if choice.states:
            clauses.append(f"state IN ({', '.join('?' for _ in choice.states)})")
        if choice.latest_only:
            clauses.append(_LATEST)
        where = f"WHERE {' AND '.join(clauses)}" if clauses else ""
        rest = f"{where} ORDER BY created_at DESC, tx_id DESC, attempt_no DESC LIMIT {int(most)}"
        values = [*(value for _, value in named), *(each.value for each in choice.states)]
        return self._selected(rest, values)

    def drawn(self, attempt: Attempt) -> Drawn:
        """What an attempt is about, held against its hashes."""
        return self._believed(attempt, drawn_of)

    def journal(self, attempt: Attempt) -> tuple[EntityWrite, ...]:
        """What it does to each entity, and what was there before, held against its hashes."""
        return self._believed(attempt, writes_of)

    def _believed(self, attempt: Attempt, read: Callable[[Attempt, Row], Kept]) -> Kept:
        query = f"SELECT operations, preview, writes FROM transaction_content WHERE {_ONE}"  # noqa: S608
        with self._journal.database.reading() as view:
            (row,) = view.rows(query, (attempt.tx_id, attempt.attempt_no))
        try:
            return read(attempt, row)
        except (ConsentryError, ValueError, KeyError, TypeError, RecursionError) as problem:
            named = f"what `{attempt.tx_id}` is about"
            message = f"{named} cannot be believed: {problem}"
            raise LedgerProblem(Code.LEDGER_CORRUPT, message) from problem

    def blocks(self, document_id: str) -> Sequence[Block]:
        """What blocks a document."""
        with self._journal.database.reading() as view:
            return blocks_of(view, document_id)

    def all_blocks(self) -> Sequence[Block]:
        """What blocks any document."""
        query = "SELECT DISTINCT document_id FROM transaction_block ORDER BY document_id"
        with self._journal.database.reading() as view:
            names = [str(row[0]) for row in view.rows(query)]
            return [block for name in names for block in blocks_of(view, name)]

    def resolve(self, attempt: Attempt, by: Identity, role: Role, reason: str) -> None:
        """Lets the document take changes again; the attempt stays what it is."""
        journal, now = self._journal, self._journal.clock.now()
        payload: dict[str, Json] = {
            "txId": attempt.tx_id,
            "attemptNo": attempt.attempt_no,
            "documentId": attempt.document_id,
            "reason": reason,
            "resolvedBy": by,
            "resolvedRole": role.value,
            "resolvedAt": str(now),
        }
        about = About(subject_of_tx(attempt.tx_id), actor=by)
        draft = journal.draft(EventType.TRANSACTION_RESOLVED, about, payload, now)
        query = f"DELETE FROM transaction_block WHERE document_id = ? AND {_ONE}"  # noqa: S608 - no value in it

        def change(transaction: Transaction) -> None:
            place = (attempt.document_id, attempt.tx_id, attempt.attempt_no)
            if transaction.run(query, place) != 1:
                raise Refused(Code.TX_STATE, f"`{attempt.tx_id}` blocks nothing")

        journal.record(draft, change=change)

    def _require_free(self, transaction: Transaction, attempt: Attempt) -> None:
        found = blocks_of(transaction, attempt.document_id)
        if found:
            first = found[0]
            message = (
                f"`{attempt.document_id}` is blocked by `{first.tx_id}` since {first.since.shown()}"
            )
            help_line = f"consentry tx resolve {first.tx_id}"
            raise Refused(Code.TX_BLOCKED, message, help_line=help_line)

    def _drafts(self, steps: Sequence[Step]) -> list[Draft]:
        journal, now = self._journal, self._journal.clock.now()
        return [
            journal.draft(
                EventType.TRANSACTION_TRANSITION,
                About(
                    subject_of_tx(each.after.tx_id),
                    actor=each.caller.actor,
                    session_id=each.after.origin.session_id,
                ),
                each.payload(now),
                now,
            )
            for each in steps
        ]

    def _selected(self, rest: str, values: Sequence[Value]) -> list[Attempt]:
        with self._journal.database.reading() as view:
            return [_as_attempt(row) for row in view.rows(f"{_SELECT} {rest}", values)]


def subject_of_tx(tx_id: str) -> str:
    """What the events of a transaction are about."""
    return f"transaction:{tx_id}"


def _row(attempt: Attempt) -> tuple[Value, ...]:
    module = attempt.origin.module
    return (
        attempt.tx_id,
        attempt.attempt_no,
        attempt.document_id,
        attempt.origin.host_id,
        None if module is None else module.module_id,
        attempt.state.value,
        attempt.version,
        str(attempt.created_at),
        str(attempt.changed_at),
        attempt.request_id,
        _text(attempt.to_json()),
    )


def _update(transaction: Transaction, kept: Attempt, seen: int) -> None:
    values = (
        kept.state.value,
        kept.version,
        str(kept.changed_at),
        kept.request_id,
        _text(kept.to_json()),
        kept.tx_id,
        kept.attempt_no,
        seen,
    )
    if transaction.run(_UPDATE, values) != 1:
        raise Overtaken


def _as_attempt(row: Row) -> Attempt:
    try:
        document: Any = json.loads(str(row[-1]))
        found = Attempt.from_json(document)
        if _row(found)[:-1] != tuple(row[:-1]):
            raise BadInput(Code.DECISION_FIELD, "its columns say something else than its attempt")
    except (ConsentryError, ValueError, RecursionError) as problem:
        message = f"a row of `transaction_attempt` cannot be believed: {problem}"
        raise LedgerProblem(Code.LEDGER_CORRUPT, message) from problem
    return found


def _text(value: Json) -> str:
    return canonical_json(value).decode()
