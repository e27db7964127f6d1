"""Rows put into a ledger's tables past the ledger: events as it would never take them, in whole chains."""

from collections.abc import Sequence

from consentry.record.chain import ChainRow
from consentry.store.database import Database


def put_raw(database: Database, rows: Sequence[ChainRow]) -> None:
    """The rows as they are, in the order they come, and the heads of their chains."""
    heads = {row.writer: row for row in sorted(rows, key=lambda row: row.seq)}
    with database.writing() as transaction:
        transaction.run_many(
            "INSERT INTO ledger_event (writer, seq, hash, body) VALUES (?, ?, ?, ?)",
            [(row.writer, row.seq, row.hash, row.body.decode()) for row in rows],
        )
        transaction.run_many(
            "INSERT INTO ledger_head (writer, seq, hash) VALUES (?, ?, ?) "
            "ON CONFLICT (writer) DO UPDATE SET seq = excluded.seq, hash = excluded.hash",
            [(row.writer, row.seq, row.hash) for row in heads.values()],
        )
