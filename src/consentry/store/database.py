"""What the store needs of a database: transactions that are durable when they return.

`SqliteDatabase` is the embedded one, `PostgresDatabase` the shared one. Statements are written once,
with `?` for parameters, in the SQL that both share; where they differ, `dialect` says which it is.

Committing and waiting for the disk are two steps, so that whoever comes next may commit while the
disk is still busy with what came before: `committing()` makes the changes take effect together,
`sync()` returns when everything committed so far is durable. `writing()` is both.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from typing import Protocol, TypeAlias

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem

Value: TypeAlias = str | int | float | bytes | None
Row: TypeAlias = tuple[Value, ...]


class Dialect(StrEnum):
    """Which SQL is spoken."""

    SQLITE = "sqlite"
    POSTGRESQL = "postgresql"


class Transaction(Protocol):
    """Statements that take effect together or not at all."""

    @property
    def dialect(self) -> Dialect:
        """Which SQL it speaks."""
        ...

    def run(self, statement: str, parameters: Sequence[Value] = ()) -> int:
        """Executes one statement; returns how many rows it changed."""
        ...

    def run_many(self, statement: str, rows: Sequence[Sequence[Value]]) -> None:
        """Executes one statement for each row of parameters."""
        ...

    def rows(self, statement: str, parameters: Sequence[Value] = ()) -> Iterator[Row]:
        """The rows of a query, one by one."""
        ...


class Database(Protocol):
    """A place to keep rows."""

    @property
    def dialect(self) -> Dialect:
        """Which SQL it speaks."""
        ...

    def committing(self) -> AbstractContextManager[Transaction]:
        """A transaction that may write; committed when the block ends, undone when it raises."""
        ...

    def sync(self) -> None:
        """Returns when everything that was committed is durable; raises when it may not be."""
        ...

    def writing(self) -> AbstractContextManager[Transaction]:
        """A transaction that may write; durable when the block ends, undone when it raises."""
        ...

    def reading(self) -> AbstractContextManager[Transaction]:
        """A consistent view for queries; writers go on meanwhile."""
        ...

    def close(self) -> None:
        """Lets go of it."""
        ...


def require_same_process(opened_by: int) -> None:
    """Raises in a child of the process that opened the database: the two would share a connection."""
    if os.getpid() != opened_by:
        raise LedgerProblem(
            Code.LEDGER_UNWRITABLE,
            "the ledger was opened before this process was forked",
            help_line="open the ledger again in the child process",
        )
