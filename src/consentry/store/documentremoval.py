"""Removes a document that was only ever a fixture's, with the rows of its transactions.

What an attempt was and how it went is in the ledger and stays there; the rows beside it are needed by
whoever goes on with an attempt, and nobody does with these. A document that an attempt blocks, or that has
an attempt with which somebody could go on, is left as it is.
"""

from typing import Final

from consentry.record.events import EventType
from consentry.record.transactionstates import TransactionState
from consentry.store.database import Transaction
from consentry.store.journal import About, Journal
from consentry.store.rows import Overtaken, exists

_S = TransactionState
_UNSETTLED: Final = tuple(
    each.value
    for each in (
        _S.APPROVAL_PENDING,
        _S.APPLYING,
        _S.ROLLBACK_PENDING,
        _S.RECOVERY_PENDING,
        _S.FAILED_PRE_APPLY,
    )
)
_OPEN: Final = (
    "SELECT 1 FROM transaction_attempt WHERE document_id = ? "  # noqa: S608 - no value in it
    f"AND state IN ({', '.join('?' for _ in _UNSETTLED)})"
)
_BLOCKED: Final = "SELECT 1 FROM transaction_block WHERE document_id = ?"
_COUNT: Final = "SELECT count(*) FROM transaction_attempt WHERE document_id = ?"
_THERE: Final = "SELECT 1 FROM document WHERE document_id = ?"
_TABLES: Final = (
    "transaction_attempt",
    "transaction_content",
    "transaction_key",
    "document_commit",
    "document_entity",
    "document",
)


def remove_document(journal: Journal, document_id: str) -> int | None:
    """How many attempts went with it; None where it has to stay."""
    with journal.database.reading() as view:
        count = int(next(iter(view.rows(_COUNT, (document_id,))))[0] or 0)
        if not count and not exists(view, _THERE, (document_id,)):
            return 0
    draft = journal.draft(
        EventType.LEDGER_PURGED,
        About(f"document:{document_id}"),
        {"what": "a document of fixtures, and its transactions", "count": count},
        journal.clock.now(),
    )

    def change(transaction: Transaction) -> None:
        is_open = exists(transaction, _OPEN, (document_id, *_UNSETTLED))
        if is_open or exists(transaction, _BLOCKED, (document_id,)):
            raise Overtaken
        for table in _TABLES:
            query = f"DELETE FROM {table} WHERE document_id = ?"  # noqa: S608 - a name of ours
            transaction.run(query, (document_id,))

    try:
        journal.record(draft, change=change)
    except Overtaken:
        return None
    return count
