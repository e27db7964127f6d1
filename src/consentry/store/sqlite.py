"""The embedded database: one SQLite file, write-ahead log, every commit synced to disk.

`synchronous=FULL` makes a commit durable before the caller goes on. One connection writes, under a
lock; every reader has its own, so that a long export never blocks a decision. A failure of the
system becomes one error with a code that says what to do; nothing half-written is left behind,
because SQLite undoes the transaction.
"""

import sqlite3
import weakref
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Lock

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.store.database import Dialect, Row, Transaction, Value

BUSY_MILLISECONDS = 10_000

_PRIMARY = 0xFF  # SQLite puts details in the higher bits of an error code
_CODES = {
    sqlite3.SQLITE_BUSY: Code.LEDGER_BUSY,
    sqlite3.SQLITE_LOCKED: Code.LEDGER_BUSY,
    sqlite3.SQLITE_CONSTRAINT: Code.EVENT_TWICE,
    sqlite3.SQLITE_CORRUPT: Code.LEDGER_CORRUPT,
    sqlite3.SQLITE_NOTADB: Code.LEDGER_CORRUPT,
}


class SqliteTransaction:
    """Statements on one connection."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, statement: str, parameters: Sequence[Value] = ()) -> None:
        """Executes one statement."""
        self._connection.execute(statement, parameters)

    def run_many(self, statement: str, rows: Sequence[Sequence[Value]]) -> None:
        """Executes one statement for each row of parameters."""
        self._connection.executemany(statement, rows)

    def rows(self, statement: str, parameters: Sequence[Value] = ()) -> Iterator[Row]:
        """The rows of a query, one by one."""
        return self._connection.execute(statement, parameters)


class SqliteDatabase:
    """One file; opened on first use, with its folder already there."""

    dialect = Dialect.SQLITE

    def __init__(self, path: Path) -> None:
        self.path = path
        self._one_writer = Lock()
        with _translated(path):
            self._connection = _connect(path)
        # A database that nobody holds any more is closed, and not left to the garbage collector's
        # own moment and warning.
        self._closer = weakref.finalize(self, self._connection.close)

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A transaction that may write; durable when the block ends, undone when it raises."""
        with self._one_writer, _translated(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield SqliteTransaction(self._connection)
                self._connection.execute("COMMIT")
            except BaseException:
                # A failed COMMIT has sometimes undone the transaction already.
                with suppress(sqlite3.OperationalError):
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A consistent view for queries; writers go on meanwhile."""
        with _translated(self.path), closing(_connect(self.path)) as connection:
            connection.execute("BEGIN")
            yield SqliteTransaction(connection)

    def close(self) -> None:
        """Lets go of the file."""
        with self._one_writer:
            self._closer()


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(
        path, timeout=BUSY_MILLISECONDS / 1000, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        connection.execute("PRAGMA cell_size_check=ON")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Turns what SQLite raises into our errors, with the file's name in it."""
    try:
        yield
    except sqlite3.Error as problem:
        primary = getattr(problem, "sqlite_errorcode", 0) & _PRIMARY
        code = _CODES.get(primary, Code.LEDGER_UNWRITABLE)
        raise LedgerProblem(code, f"`{path}`: {problem}") from problem
