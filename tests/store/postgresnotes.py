"""A small table on PostgreSQL: writes to it, and what is raised instead."""

from collections.abc import Callable
from contextlib import ExitStack

import pytest

from consentry.base.errors import LedgerProblem
from consentry.store.postgres import Patience, PostgresDatabase

INSERT = "INSERT INTO note VALUES (?)"
HASTE = Patience(lock=0.2, statement=1.5, answer=3.0, reading=3.0)


class Opener:
    """Opens the same database again, and closes all of them in the end."""

    def __init__(self, url: str, closing: ExitStack) -> None:
        self.url = url
        self._closing = closing

    def __call__(self, patience: Patience | None = None) -> PostgresDatabase:
        """Opens it."""
        database = PostgresDatabase(self.url, patience)
        self._closing.callback(database.close)
        return database


def write(database: PostgresDatabase, name: str) -> None:
    """Records one row."""
    with database.writing() as transaction:
        transaction.run(INSERT, (name,))


def problem_of(attempt: Callable[[], object]) -> LedgerProblem:
    """What is raised instead."""
    with pytest.raises(LedgerProblem) as caught:
        attempt()
    return caught.value


def refused(database: PostgresDatabase, name: str) -> LedgerProblem:
    """What is raised instead of recording one."""
    return problem_of(lambda: write(database, name))


def names(database: PostgresDatabase) -> list[object]:
    """What is recorded."""
    with database.reading() as view:
        return [row[0] for row in view.rows("SELECT name FROM note ORDER BY name")]


def backend(database: PostgresDatabase) -> int:
    """The server's process for the connection that writes."""
    with database.writing() as transaction:
        return int(next(transaction.rows("SELECT pg_backend_pid()"))[0] or 0)
