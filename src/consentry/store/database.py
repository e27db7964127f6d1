"""What the store needs of a database: transactions that are durable when they return.

`SqliteDatabase` is the embedded one. Statements are written once, with `?` for parameters, in the
SQL that both databases share; where they differ, `dialect` says which one it is.
"""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from enum import StrEnum
from typing import Protocol, TypeAlias

Value: TypeAlias = str | int | bytes | None
Row: TypeAlias = tuple[Value, ...]


class Dialect(StrEnum):
    """Which SQL is spoken."""

    SQLITE = "sqlite"


class Transaction(Protocol):
    """Statements that take effect together or not at all."""

    def run(self, statement: str, parameters: Sequence[Value] = ()) -> None:
        """Executes one statement."""
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

    def writing(self) -> AbstractContextManager[Transaction]:
        """A transaction that may write; durable when the block ends, undone when it raises."""
        ...

    def reading(self) -> AbstractContextManager[Transaction]:
        """A consistent view for queries; writers go on meanwhile."""
        ...

    def close(self) -> None:
        """Lets go of it."""
        ...
