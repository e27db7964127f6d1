"""How long rows are kept that have no effect any more, and how they go.

Only rows of `decide`'s tables ever go: settled requests, spent and expired permits, consents that
were used or revoked or have run out, withdrawn acceptances, revoked grants, sessions that are over,
and transactions that were rejected or rolled back, with all that they were about. One that was applied
stays: it can be taken back. What decides anything today stays, and so does every event: what a row said is in the ledger.

A row that another one still leans on stays with it. A request goes before, or together with, what
it gave rise to: were the consent to go alone, the same approval could give another one. A session
stays as long as a consent or a grant names it. What an execution asked stays for good: it is what the
execution is known by, and without it the same one would ask again.
"""

from collections.abc import Mapping
from typing import Final

from consentry.base.clock import Instant
from consentry.store.database import Database, Transaction

_NO_ATTEMPT: Final = (
    "NOT EXISTS (SELECT 1 FROM transaction_attempt WHERE transaction_attempt.tx_id = {0}.tx_id "
    "AND transaction_attempt.attempt_no = {0}.attempt_no)"
)
# In this order: what a row leans on is gone, or not, before the row is looked at.
_WITHOUT_EFFECT: Final[Mapping[str, str]] = {
    "approval_request": "status <> 'pending' AND kind <> 'escalation' AND answered_at < ?",
    "consent": (
        "(used_at < ? OR revoked_at < ? OR expires_at < ? OR (lasts = 'session' "
        "AND EXISTS (SELECT 1 FROM session "
        "WHERE session.session_id = consent.session_id AND session.ended_at < ?))) "
        "AND NOT EXISTS (SELECT 1 FROM approval_request "
        "WHERE approval_request.request_id = consent.request_id)"
    ),
    "capability_grant": (
        "revoked_at < ? OR (scope = 'session' AND EXISTS (SELECT 1 FROM session "
        "WHERE session.session_id = capability_grant.session_id AND session.ended_at < ?))"
    ),
    "acceptance": "withdrawn_at < ?",
    "permit": "COALESCE(spent_at, expires_at) < ?",
    "session": (
        "ended_at < ? "
        "AND NOT EXISTS (SELECT 1 FROM consent WHERE consent.session_id = session.session_id) "
        "AND NOT EXISTS (SELECT 1 FROM capability_grant "
        "WHERE capability_grant.session_id = session.session_id)"
    ),
    # All attempts of a transaction that came to nothing, with what they would have changed.
    "transaction_attempt": (
        "EXISTS (SELECT 1 FROM transaction_attempt AS ended WHERE ended.tx_id = transaction_attempt.tx_id "
        "AND ended.state IN ('REJECTED', 'ROLLED_BACK') AND ended.changed_at < ?)"
    ),
    "transaction_content": _NO_ATTEMPT.format("transaction_content"),
    "transaction_key": _NO_ATTEMPT.format("transaction_key"),
}


class _OnlyCounting(Exception):
    """Undoes what was done to be counted."""


def remove_without_effect(transaction: Transaction, before: Instant) -> dict[str, int]:
    """Removes what has had no effect since before that moment; how many rows of each table."""
    return {
        table: transaction.run(
            f"DELETE FROM {table} WHERE {where}",  # noqa: S608 - no value in it
            (str(before),) * where.count("?"),
        )
        for table, where in _WITHOUT_EFFECT.items()
    }


def count_without_effect(database: Database, before: Instant) -> dict[str, int]:
    """How many rows of each table would be removed; found by doing it and undoing it."""
    counts: dict[str, int] = {}
    try:
        with database.committing() as transaction:
            counts = remove_without_effect(transaction, before)
            raise _OnlyCounting
    except _OnlyCounting:
        return counts


def close_for_good(database: Database) -> None:
    """Takes away what every append needs, so that each fails; for a ledger that is about to go."""
    with database.writing() as transaction:
        transaction.run("DROP TABLE IF EXISTS ledger_head")
