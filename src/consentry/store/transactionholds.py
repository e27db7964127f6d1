"""What holds a transaction back besides its own state: whose an idempotency key is, and what blocks a document.

Both are asked inside the transaction that takes the step, so that of two who come at once one is refused.
"""

from typing import Final

from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass
from consentry.decide.documentstore import CommitKind
from consentry.decide.txattempt import Attempt
from consentry.record.transactionstates import TransactionState
from consentry.store.database import Transaction

_S = TransactionState
_FREE: Final = (_S.FAILED_PRE_APPLY.value, _S.REJECTED.value)
"""A key of an attempt that came to nothing can be used again."""
_BLOCKED: Final = (
    "SELECT tx_id, attempt_no, since FROM transaction_block WHERE document_id = ? "
    "ORDER BY since, tx_id, attempt_no"
)
BLOCK: Final = (
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
class Block:
    """An attempt that could not be settled, and blocks its document since then."""

    document_id: str
    tx_id: str
    attempt_no: int
    since: Instant


def take_key(transaction: Transaction, attempt: Attempt) -> None:
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


def blocks_of(view: Transaction, document_id: str) -> list[Block]:
    """What blocks a document, the oldest first."""
    return [
        Block(document_id, str(tx_id), int(number or 0), Instant.parse(str(since)))
        for tx_id, number, since in view.rows(_BLOCKED, (document_id,))
    ]
