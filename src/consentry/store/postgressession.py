"""One connection to PostgreSQL: statements, the end of a transaction, and what went wrong.

The only module that knows the driver, together with `postgresurl`; both are imported when a shared
database is opened, not before. Whatever the driver raises leaves here as a `LedgerProblem` whose
message names the place and repeats the server's words.

A server that is frozen, or a disk under it, answers nothing and closes nothing, and no setting of
the protocol ends that wait. So every wait has a limit of its own here.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from time import monotonic
from typing import Any, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.adapt import AdaptersMap, Buffer, Loader
from psycopg.pq import TransactionStatus
from psycopg.types.string import TextLoader

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.store.database import Row, Value
from consentry.store.placeholders import percent_marked
from consentry.store.postgresurl import PostgresPlace

OLDEST_SERVER = 14

_FIRST_PAGE = 100
_NEXT_PAGES = 2000
_WAKE_UP = 0.1  # how often a wait looks at the clock, and lets Ctrl-C through

_CODES: Mapping[str, Code] = {
    "23505": Code.EVENT_TWICE,
    "40001": Code.LEDGER_BUSY,  # serialization failure
    "40P01": Code.LEDGER_BUSY,  # deadlock
    "55P03": Code.LEDGER_BUSY,  # lock_timeout
    "57014": Code.LEDGER_BUSY,  # statement_timeout
    "XX001": Code.LEDGER_CORRUPT,
    "XX002": Code.LEDGER_CORRUPT,
}
_GAVE_UP_WAITING_FOR_US = frozenset({"25P03"})  # so the commit found no transaction any more
_HELP: Mapping[str, str] = {
    "0A000": "name the server that may be written; this one only repeats another",
    "25006": "name the server that may be written; this one only repeats another",
    "42501": "give this user the right to make and change tables in that database",
    "53100": "make room on the server's disk, then try again",
    "XX001": "leave the server's files as they are, and restore a backup beside them",
    "XX002": "leave the server's files as they are, and restore a backup beside them",
}
_HELP_BUSY = "look in pg_stat_activity for what holds the lock or the disk, then try again"
_HELP_CONNECTION = (
    "check that the server runs, that the URL names it, and that this user may connect; "
    "then try again"
)

Result = TypeVar("Result")


class _Number(Loader):
    """What sums are: a whole number where it is one."""

    def load(self, data: Buffer) -> int | float:
        text = bytes(data).decode()
        return int(text) if text.lstrip("-").isdecimal() else float(text)


def _plain_values() -> AdaptersMap:
    """Loads every type as one of the few that rows are made of."""
    adapters = AdaptersMap(psycopg.adapters)
    adapters.register_loader("numeric", _Number)
    for name in ("json", "jsonb", "uuid", "date", "timestamp", "timestamptz"):
        adapters.register_loader(name, TextLoader)
    return adapters


_PLAIN_VALUES = _plain_values()


class _Connection(psycopg.Connection[Row]):
    """A connection whose every wait ends."""

    answer_within = 60.0

    def wait(
        self,
        gen: PQGen[Result],
        interval: float = _WAKE_UP,
        timeout: float | None = None,  # noqa: ARG002 - the driver's; ours is always set
    ) -> Result:
        """Waits for an answer, or raises when there is none for too long."""
        return super().wait(_within(gen, self.answer_within), interval)


def _within(waited: PQGen[Result], seconds: float) -> PQGen[Result]:
    deadline = monotonic() + seconds
    try:
        wish = next(waited)
        while True:
            ready = yield wish
            if not ready and monotonic() > deadline:
                raise psycopg.OperationalError(f"the server did not answer for {seconds:g} s")
            wish = waited.send(ready)
    except StopIteration as end:
        result: Result = end.value
        return result


class Session:
    """A connection, between two transactions or inside one."""

    def __init__(self, place: PostgresPlace) -> None:
        self._place = place
        self._cursor_names = count()
        with self._translated():
            self._connection = _Connection.connect(
                place.conninfo, autocommit=True, context=_PLAIN_VALUES
            )
        try:
            self._require_usable()
        except BaseException:
            self._connection.close()
            raise

    def _require_usable(self) -> None:
        version = self._connection.info.server_version // 10_000
        if version < OLDEST_SERVER:
            raise LedgerProblem(
                Code.LEDGER_UNWRITABLE,
                f"{self._place}: the server is PostgreSQL {version}, "
                f"and {OLDEST_SERVER} or newer is needed",
                help_line="use a newer server; nothing was changed on this one",
            )
        encoding = self._connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise LedgerProblem(
                Code.LEDGER_UNWRITABLE,
                f"{self._place}: the database keeps text as {encoding}, and UTF8 is needed",
                help_line="make a database with CREATE DATABASE … ENCODING 'UTF8'",
            )

    @property
    def is_lost(self) -> bool:
        """Whether the server is gone, or was given up."""
        return self._connection.closed

    @property
    def is_idle(self) -> bool:
        """Whether another transaction may begin."""
        return self._status is TransactionStatus.IDLE

    @property
    def _status(self) -> TransactionStatus:
        return TransactionStatus(self._connection.pgconn.transaction_status)

    def begin(self, statements: str, answer_within: float) -> None:
        """Opens a transaction; from now on each answer may take this many seconds."""
        self._connection.answer_within = answer_within
        with self._translated():
            self._connection.execute(statements)

    def run(self, statement: str, parameters: Sequence[Value]) -> int:
        """Executes one statement; returns how many rows it changed."""
        with self._translated():
            return max(self._execute(statement, parameters).rowcount, 0)

    def run_many(self, statement: str, rows: Sequence[Sequence[Value]]) -> None:
        """Executes one statement for each row of parameters, in one round trip."""
        with self._translated(), self._connection.cursor() as cursor:
            cursor.executemany(percent_marked(statement).encode(), rows)

    def all_rows(self, statement: str, parameters: Sequence[Value]) -> list[Row]:
        """The whole answer; also of statements that change something."""
        with self._translated():
            return self._execute(statement, parameters).fetchall()

    def paged_rows(self, statement: str, parameters: Sequence[Value]) -> Iterator[list[Row]]:
        """The answer to a query page by page; the server keeps the rest."""
        name = f"consentry_{next(self._cursor_names)}"
        self.run(f"DECLARE {name} NO SCROLL CURSOR FOR {statement}", parameters)
        return self._pages(name)

    def _pages(self, name: str) -> Iterator[list[Row]]:
        size = _FIRST_PAGE
        while True:
            page = self.all_rows(f"FETCH FORWARD {size} FROM {name}", ())
            yield page
            if len(page) < size:
                return
            size = _NEXT_PAGES

    def _execute(self, statement: str, parameters: Sequence[Value]) -> psycopg.Cursor[Row]:
        if not parameters:
            return self._connection.execute(statement.encode())
        return self._connection.execute(percent_marked(statement).encode(), parameters)

    def commit(self) -> None:
        """Makes it all take effect; raises when that did not happen, or may not have."""
        was_lost = self.is_lost
        try:
            ended = self._connection.execute("COMMIT")
        except psycopg.Error as problem:
            if was_lost or self.is_idle or problem.sqlstate in _GAVE_UP_WAITING_FOR_US:
                raise self._problem(problem) from problem
            raise LedgerProblem(
                Code.LEDGER_UNWRITABLE,
                f"{self._place}: {_words(problem)}; this happened during the commit, so it is not "
                "known whether the change was recorded",
                help_line="look for it with `consentry audit log` when the server answers again",
            ) from problem
        if ended.statusmessage != "COMMIT":
            raise LedgerProblem(
                Code.LEDGER_UNWRITABLE,
                f"{self._place}: a statement had failed, so the whole transaction was undone",
            )

    def roll_back(self) -> None:
        """Undoes what is not committed; a connection on which that fails is given up."""
        with suppress(psycopg.Error):
            if self._status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
                self._connection.execute("ROLLBACK")
        if not self.is_idle:
            self.close()

    def close(self) -> None:
        """Lets go of the server, which undoes what was not committed."""
        self._connection.close()

    @contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as problem:
            raise self._problem(problem) from problem

    def _problem(self, problem: psycopg.Error) -> LedgerProblem:
        state = problem.sqlstate or ""
        code = _CODES.get(state, Code.LEDGER_UNWRITABLE)
        return LedgerProblem(
            code, f"{self._place}: {_words(problem)}", help_line=_help_line(code, state)
        )


def _help_line(code: Code, state: str) -> str | None:
    if state in _HELP:
        return _HELP[state]
    if code is Code.LEDGER_BUSY:
        return _HELP_BUSY
    # Classes 08 and 57P: the connection; no state at all: it failed before there was one.
    return _HELP_CONNECTION if not state or state.startswith(("08", "57P")) else None


def _words(problem: psycopg.Error) -> str:
    said: Any = problem.diag.message_primary or problem
    return " ".join(str(said).split())
