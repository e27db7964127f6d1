"""The shared database: PostgreSQL, when several machines keep one ledger.

One connection writes, under a lock; a reader has its own, so that a long export never blocks a
decision. Every transaction that writes asks for `synchronous_commit`, so a commit that returns is
on the server's disk, as far as the server itself syncs (its setting `fsync`); whoever must not be
overtaken takes a lock on the row it is about (`SELECT … FOR UPDATE`), and machines wait for each
other nowhere else. A reader sees one moment, page by page, in constant memory.

A connection that was lost while nothing was under way is replaced without a word. One that is lost
in the middle is an error, and nothing was recorded, unless it was during the commit itself: then
nobody here can know, and the message says so.

The driver comes with the extra `postgres`, and is imported when a database is opened.
"""

import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from threading import Lock
from typing import TYPE_CHECKING

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem, UsageProblem
from consentry.base.values import dataclass
from consentry.store.database import Dialect, Row, Transaction, Value, require_same_process

if TYPE_CHECKING:
    from consentry.store.postgressession import Session

_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds may pass before waiting becomes an error.

    The server ends a statement that takes too long, or waits too long for a lock. A server that
    does not answer at all is given up later than that, so that it can say the reason itself.
    """

    lock: float = 10.0
    statement: float = 60.0
    answer: float = 75.0
    reading: float = 300.0

    def begin_writing(self) -> str:
        """The statements that open a transaction with these limits."""
        limits = {
            "lock_timeout": self.lock,
            "statement_timeout": self.statement,
            # A machine that stops in the middle must not keep its locks.
            "idle_in_transaction_session_timeout": self.statement,
        }
        return "; ".join(
            (
                "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
                "SET LOCAL synchronous_commit TO on",
                *(f"SET LOCAL {name} TO {seconds * 1000:.0f}" for name, seconds in limits.items()),
            )
        )


class PostgresTransaction:
    """Statements between the begin and the end of one transaction; none after it."""

    dialect = Dialect.POSTGRESQL

    def __init__(self, session: "Session") -> None:
        self._session = session
        self._is_open = True

    def end(self) -> None:
        """No statement may follow: outside of a transaction it would take effect by itself."""
        self._is_open = False

    def require_open(self) -> "Session":
        """The connection, as long as the transaction lasts."""
        if not self._is_open:
            raise LedgerProblem(Code.LEDGER_UNWRITABLE, "the transaction has ended")
        return self._session

    def run(self, statement: str, parameters: Sequence[Value] = ()) -> int:
        """Executes one statement; returns how many rows it changed."""
        return self.require_open().run(statement, parameters)

    def run_many(self, statement: str, rows: Sequence[Sequence[Value]]) -> None:
        """Executes one statement for each row of parameters."""
        self.require_open().run_many(statement, rows)

    def rows(self, statement: str, parameters: Sequence[Value] = ()) -> Iterator[Row]:
        """The rows of a query, or of what a statement returns; all of them are held in memory."""
        return iter(self.require_open().all_rows(statement, parameters))


class PostgresView(PostgresTransaction):
    """Queries on one moment of the database."""

    def rows(self, statement: str, parameters: Sequence[Value] = ()) -> Iterator[Row]:
        """The rows of a query, one by one; a page of them is held in memory."""
        return self._rows(self.require_open().paged_rows(statement, parameters))

    def _rows(self, pages: Iterator[list[Row]]) -> Iterator[Row]:
        for page in pages:
            yield from page
            self.require_open()


class _Kept:
    """A connection that waits for its next use, at most one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._session: Session | None = None
        self._opened_by = os.getpid()
        self._is_closed = False

    def take(self) -> "Session | None":
        """The one that waits, now the caller's."""
        with self._lock:
            if self._is_closed:
                raise LedgerProblem(Code.LEDGER_UNWRITABLE, "the database was closed")
            session, self._session = self._session, None
        return session

    def put(self, session: "Session") -> None:
        """Keeps it for the next use, if it is good for one."""
        with self._lock:
            if session.is_idle and self._session is None and not self._is_closed:
                self._session = session
                return
        session.close()

    def close(self) -> None:
        """Closes what waits; a forked child leaves its parent's connection alone."""
        if os.getpid() != self._opened_by:
            return
        with self._lock:
            session, self._session, self._is_closed = self._session, None, True
        if session is not None:
            session.close()


class PostgresDatabase:
    """One database on a server; connected on first use."""

    dialect = Dialect.POSTGRESQL

    def __init__(self, url: str, patience: Patience | None = None) -> None:
        try:
            from consentry.store.postgressession import Session  # noqa: PLC0415 - an extra
            from consentry.store.postgresurl import read_url  # noqa: PLC0415 - as above
        except ImportError as missing:
            raise UsageProblem(
                Code.SETTING_VALUE,
                "a PostgreSQL database is named, and its driver is not installed",
                help_line='install it with: pip install "consentry[postgres]"',
            ) from missing
        self._place = read_url(url)
        self._new_session = Session
        self._patience = patience or Patience()
        self._write = self._patience.begin_writing()
        self._opened_by = os.getpid()
        self._one_writer = Lock()
        self._writer, self._reader = _Kept(), _Kept()
        # A database that nobody holds any more is closed, and not left to the garbage collector's
        # own moment and warning.
        self._closers = (
            weakref.finalize(self, self._writer.close),
            weakref.finalize(self, self._reader.close),
        )

    def __repr__(self) -> str:
        return f"<PostgresDatabase {self._place}>"

    @contextmanager
    def committing(self) -> Iterator[Transaction]:
        """A transaction that may write; durable when the block ends, undone when it raises."""
        require_same_process(self._opened_by)
        with self._one_writer:
            session = self._begun(self._writer, self._write, self._patience.answer)
            transaction = PostgresTransaction(session)
            try:
                yield transaction
                transaction.end()
                session.commit()
            finally:
                transaction.end()
                session.roll_back()
                self._writer.put(session)

    def sync(self) -> None:
        """Returns at once: what is committed is durable, because the server waits for its disk.

        To commit first and wait here would lose events without a word: a server that crashed and
        came back between the two has forgotten the commit and confirms the wait.
        """

    def writing(self) -> AbstractContextManager[Transaction]:
        """A transaction that may write; durable when the block ends, undone when it raises."""
        return self.committing()

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A consistent view for queries; writers go on meanwhile."""
        require_same_process(self._opened_by)
        session = self._begun(self._reader, _READ, self._patience.reading)
        view = PostgresView(session)
        try:
            yield view
        finally:
            view.end()
            session.roll_back()
            self._reader.put(session)

    def close(self) -> None:
        """Lets go of the server; a reader in use is closed when its block ends."""
        if os.getpid() != self._opened_by:
            return
        with self._one_writer:
            for close in self._closers:
                close()

    def _begun(self, kept: _Kept, begin: str, answer_within: float) -> "Session":
        """A connection with a transaction opened on it."""
        session = kept.take()
        if session is not None:
            try:
                session.begin(begin, answer_within)
            except LedgerProblem:
                session.roll_back()
                # Nothing was under way yet, so a new connection loses nothing.
                if not session.is_lost:
                    kept.put(session)
                    raise
            else:
                return session
        session = self._new_session(self._place)
        try:
            session.begin(begin, answer_within)
        except BaseException:
            session.close()
            raise
        return session
