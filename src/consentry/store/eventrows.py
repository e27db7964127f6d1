"""How stored events are read: their place, their hash, and the bytes that the hash is over."""

from collections.abc import Iterator
from typing import Final, cast

from consentry.record.chain import ChainRow
from consentry.store.database import Dialect, Transaction, Value

# The body as bytes: one that is no longer valid text must be read to be found out. One that is gone
# must not pass for that of an archived event, which has its row elsewhere.
SELECT_EVENTS: Final = {
    Dialect.SQLITE: (
        "SELECT writer, seq, hash, COALESCE(CAST(body AS BLOB), X'') FROM ledger_event"
    ),
    Dialect.POSTGRESQL: (
        "SELECT writer, seq, hash, COALESCE(convert_to(body, 'UTF8'), '') FROM ledger_event"
    ),
}
# SQLite has a second copy of where an event stands, in the index that gives the chains their order.
# An event whose own row says otherwise is told apart by having no hash.
SELECT_PLACED: Final = {
    Dialect.SQLITE: (
        "SELECT place.writer AS writer, place.seq AS seq, "
        "CASE WHEN (event.writer, event.seq) = (place.writer, place.seq) THEN event.hash END, "
        "COALESCE(CAST(event.body AS BLOB), X'') "
        "FROM ledger_event place CROSS JOIN ledger_event event ON event.id = place.id"
    ),
    Dialect.POSTGRESQL: SELECT_EVENTS[Dialect.POSTGRESQL],
}


def chain_rows(view: Transaction, rest: str, values: tuple[Value, ...]) -> Iterator[ChainRow]:
    """The events that the rest of the query (WHERE, ORDER BY) asks for, one by one."""
    # The table is strict about its columns' types, so the rows are what they claim to be.
    rows = view.rows(SELECT_EVENTS[view.dialect] + rest, values)
    return map(ChainRow._make, cast("Iterator[ChainRow]", rows))
