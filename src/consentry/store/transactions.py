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

from consentry.base.canonical import Json, canonical_json, digest_bytes, read_canonical
from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, ConsentryError, LedgerProblem, Refused, UsageProblem
from consentry.base.values import dataclass, replace
from consentry.decide.documentstore import CommitKind
from consentry.decide.identity import Identity, Role
from consentry.decide.statechange import EntityWrite, Operation, kept_operations
from consentry.decide.txattempt import Attempt
from consentry.decide.txpreview import revision_of, written_down
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

Kept = TypeVar("Kept")

_S = TransactionState
_FREE: Final = (_S.FAILED_PRE_APPLY.value, _S.REJECTED.value)
"""A key of an attempt that came to nothing can be used again."""
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
_INSERT_CONTENT: Final = (
    "INSERT INTO transaction_content (tx_id, attempt_no, document_id, operations, preview, writes) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)
_UPDATE: Final = (
    "UPDATE transaction_attempt SET state = ?, version = ?, changed_at = ?, request_id = ?, attempt = ? "
    "WHERE tx_id = ? AND attempt_no = ? AND version = ?"
)
_BLOCKED: Final = (
    "SELECT tx_id, attempt_no, since FROM transaction_block WHERE document_id = ? "
    "ORDER BY since, tx_id, attempt_no"
)
_BLOCK: Final = (
    "INSERT INTO transaction_block (document_id, tx_id, attempt_no, since) VALUES (?, ?, ?, ?) "
    "ON CONFLICT DO NOTHING"
)
_TAKE_KEY: Final = (
    "INSERT INTO transaction_key (document_id, idempotency_key, kind, tx_id, attempt_no) "
    "VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING"
)
_KEY: Final = (
    "SELECT transaction_key.tx_id, transaction_key.attempt_no, state FROM transaction_key "
    "JOIN transaction_attempt ON transaction_attempt.tx_id = transaction_key.tx_id "
    "AND transaction_attempt.attempt_no = transaction_key.attempt_no "
    "WHERE transaction_key.document_id = ? AND kind = ? AND idempotency_key = ?"
)
_HAND_ON: Final = (
    "UPDATE transaction_key SET tx_id = ?, attempt_no = ? "
    "WHERE document_id = ? AND kind = ? AND idempotency_key = ?"
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """What an attempt is about: what was asked for, what it does, and how it is shown."""

    operations: Sequence[Operation]
    preview: "dict[str, Json] | None" = None
    writes: Sequence[EntityWrite] = ()


@dataclass(frozen=True, slots=True)
class Block:
    """An attempt that could not be settled, and blocks its document since then."""

    document_id: str
    tx_id: str
    attempt_no: int
    since: Instant


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
        row, content = _row(kept), _content(kept, drawn)
        others = [each for each in (asking, beside) if each is not None]
        drafts = [*self._drafts(steps), *(draft for each in others for draft in each.drafts)]

        def change(transaction: Transaction) -> None:
            if after is not None:
                _update(transaction, replace(after, version=after.version + 1), after.version)
            if transaction.run(_INSERT, row) != 1:
                raise Overtaken
            transaction.run(_INSERT_CONTENT, content)
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
                    _take_key(transaction, each.after)
                if each.after.state is _S.FAILED_TERMINAL:
                    block = (kept.document_id, kept.tx_id, kept.attempt_no, str(now))
                    transaction.run(_BLOCK, block)
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
        return self._believed(attempt, _drawn)

    def journal(self, attempt: Attempt) -> tuple[EntityWrite, ...]:
        """What it does to each entity, and what was there before, held against its hashes."""
        return self._believed(attempt, _writes)

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
            return _blocks(view, document_id)

    def all_blocks(self) -> Sequence[Block]:
        """What blocks any document."""
        query = "SELECT DISTINCT document_id FROM transaction_block ORDER BY document_id"
        with self._journal.database.reading() as view:
            names = [str(row[0]) for row in view.rows(query)]
            return [block for name in names for block in _blocks(view, name)]

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
        found = _blocks(transaction, attempt.document_id)
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


def _take_key(transaction: Transaction, attempt: Attempt) -> None:
    """Makes the key this attempt's own; one whose attempt came to nothing passes on."""
    key = attempt.rollback_key or attempt.apply_key
    kind = CommitKind.APPLY if attempt.rollback_key is None else CommitKind.ROLLBACK
    place = (attempt.document_id, kind.value, key)
    mine = (attempt.tx_id, attempt.attempt_no)
    row = (attempt.document_id, key, kind.value, *mine)
    if transaction.run(_TAKE_KEY, row) == 1:
        return
    ((tx_id, attempt_no, state),) = transaction.rows(_KEY, place)
    if (tx_id, attempt_no) == mine:
        return
    if state not in _FREE:
        message = (
            f"the key `{key}` belongs to `{tx_id!s}`, attempt {attempt_no!s}, which is `{state!s}`"
        )
        raise UsageProblem(Code.TX_KEY, message)
    transaction.run(_HAND_ON, (*mine, *place))


def _blocks(view: Transaction, document_id: str) -> list[Block]:
    return [
        Block(document_id, str(tx_id), int(number or 0), Instant.parse(str(since)))
        for tx_id, number, since in view.rows(_BLOCKED, (document_id,))
    ]


def _content(attempt: Attempt, drawn: Drawn) -> tuple[Value, ...]:
    return (
        attempt.tx_id,
        attempt.attempt_no,
        attempt.document_id,
        _text([each.to_json() for each in drawn.operations]),
        None if drawn.preview is None else _text(drawn.preview),
        written_down(drawn.writes).decode(),
    )


def _drawn(attempt: Attempt, row: Row) -> Drawn:
    operations, preview, _ = row
    return Drawn(
        kept_operations(read_canonical(str(operations))),
        None if preview is None else read_canonical(str(preview)),
        _writes(attempt, row),
    )


def _writes(attempt: Attempt, row: Row) -> tuple[EntityWrite, ...]:
    _, preview, stored = row
    writes = tuple(EntityWrite.from_json(each) for each in read_canonical(str(stored)))
    if attempt.preview_hash is None:
        return writes
    # The text is canonical, and its hash is over the same text without the hash itself.
    shown = str(preview)
    at = shown.rfind(f',"previewHash":"{attempt.preview_hash}"')
    length = len(',"previewHash":""') + len(attempt.preview_hash)
    is_same = (
        at > 0
        and digest_bytes((shown[:at] + shown[at + length :]).encode()) == attempt.preview_hash
    )
    base, written = attempt.base_revision, str(stored).encode()
    is_journal = (
        base is not None
        and revision_of(base, written, attempt.commit_name) == attempt.candidate_revision
    )
    if not (is_same and is_journal):
        raise BadInput(Code.DECISION_FIELD, "its preview or its journal is another one")
    return writes


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
