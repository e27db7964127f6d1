"""Fills the tables that follow from events anew, from the events.

One transaction clears them and puts every event's row back, so that a reader sees the old tables or
the new ones. On the same history the rows are the same as before; a table that somebody changed
behind the ledger's back is what the events say again. Whether the events themselves are sound is
`audit verify`'s question, not this one's.

The ledger has every event that fills a table: `store.archive` never takes one out.
"""

import json
from collections.abc import Mapping
from typing import Any

from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.errors import BadInput, LedgerProblem
from consentry.base.values import dataclass
from consentry.record.chain import ChainRow
from consentry.store.database import Database, Dialect, Transaction
from consentry.store.projections import PROJECTIONS

_TABLES = tuple(sorted({each.table for filled in PROJECTIONS.values() for each in filled}))
_LEDGER_ORDER = {
    # The order in which they were recorded; machines that share a store have none but their clocks.
    Dialect.SQLITE: "ORDER BY id",
    Dialect.POSTGRESQL: "ORDER BY at, writer, seq",
}


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """How many rows each table has now, and from how many events."""

    rows: Mapping[str, int]
    events: int


def rebuild(database: Database) -> Rebuilt:
    """Makes the tables what the events say."""
    with database.writing() as transaction:
        if transaction.dialect is Dialect.POSTGRESQL:
            # Other machines that fill the tables wait; those who only read them do not.
            transaction.run(f"LOCK TABLE {', '.join(_TABLES)} IN EXCLUSIVE MODE")
        for table in _TABLES:
            transaction.run(f"DELETE FROM {table}")  # noqa: S608 - a name of ours
        replayed = sum(_replay(transaction, row) for row in _recorded(transaction))
        counts = {table: _count(transaction, table) for table in _TABLES}
    return Rebuilt(counts, replayed)


def _recorded(transaction: Transaction) -> list[ChainRow]:
    """The events that fill a table; few, and read before the first is put back."""
    marks = ", ".join("?" for _ in PROJECTIONS)
    order = _LEDGER_ORDER[transaction.dialect]
    query = (
        "SELECT writer, seq, hash, body FROM ledger_event "  # noqa: S608 - no value in it
        f"WHERE type IN ({marks}) {order}"
    )
    return [
        ChainRow(str(writer), int(seq or 0), str(hashed), str(body).encode())
        for writer, seq, hashed, body in transaction.rows(query, tuple(PROJECTIONS))
    ]


def _replay(transaction: Transaction, row: ChainRow) -> bool:
    try:
        event: dict[str, Any] = json.loads(row.body)
        at, payload = Instant.parse(event["timestampUtc"]), event["payload"]
        filled = [
            (projection.statement, values)
            for projection in PROJECTIONS.get(event["type"], ())
            for values in projection.rows(at, payload)
        ]
    except (ValueError, KeyError, TypeError, BadInput) as problem:
        raise LedgerProblem(
            Code.CHAIN_BROKEN, f"event {row.seq} of `{row.writer}` cannot be read any more"
        ) from problem
    for statement, values in filled:
        transaction.run(statement, values)
    return bool(filled)


def _count(transaction: Transaction, table: str) -> int:
    query = f"SELECT count(*) FROM {table}"  # noqa: S608 - a name of ours
    return int(next(iter(transaction.rows(query)))[0] or 0)
