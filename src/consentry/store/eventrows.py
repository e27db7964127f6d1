"""How stored events are read: their place, their hash, and the bytes that the hash is over."""

from collections.abc import Iterator
from typing import Final, cast

from consentry.record.chain import ChainRow
from consentry.store.database import Dialect, Transaction, Value

# The body as bytes: one that is no longer valid text must be read to be found out.
SELECT_EVENTS: Final = {
    Dialect.SQLITE: "SELECT writer, seq, hash, CAST(body AS BLOB) FROM ledger_event",
    Dialect.POSTGRESQL: "SELECT writer, seq, hash, convert_to(body, 'UTF8') FROM ledger_event",
}


def chain_rows(view: Transaction, rest: str, values: tuple[Value, ...]) -> Iterator[ChainRow]:
    """The events that the rest of the query (WHERE, ORDER BY) asks for, one by one."""
    # The table is strict about its columns' types, so the rows are what they claim to be.
    rows = view.rows(SELECT_EVENTS[view.dialect] + rest, values)
    return map(ChainRow._make, cast("Iterator[ChainRow]", rows))
