"""The embedded database: one SQLite file and its write-ahead log, synced before anybody goes on.

A commit is acknowledged only when the write-ahead log that holds it is on disk. SQLite would wait
for the disk inside the commit, while every other writer waits for it (`synchronous=FULL`); here the
commit releases the lock first (`synchronous=NORMAL`) and `sync` waits outside, so that writers wait
for the disk together. What is promised is the same: SQLite syncs the log before it is copied into
the database and the database before the log starts anew, so a commit is always in a file that was
synced by the time `sync` returns, and with it everything it was built on.

One connection writes, under a lock; every reader has its own, so that a long export never blocks a
decision. A few that nobody reads from are kept for the next reader, without the pages that they have
read: what is read is what is in the file now. A failure of the system becomes one error with a code that says what to do; nothing
half-written is left behind, because SQLite undoes the transaction.
"""

import os
import sqlite3
import stat
import sys
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from enum import Enum
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Lock
from typing import NamedTuple
from urllib.parse import quote

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.store.database import Dialect, Row, Transaction, Value, require_same_process
from consentry.store.writeturn import WriteTurn

BUSY_SECONDS = 10.0

_FILE_MODE = 0o600
_SYNCS_AT_ONCE = 4
_MOST_IDLE = 4
_MOST_ANSWERS = 32
_KINDS = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
_PRIMARY = 0xFF  # SQLite puts details in the higher bits of an error code
_BETWEEN_TRIES = 0.002  # seconds
_CODES = {
    sqlite3.SQLITE_BUSY: Code.LEDGER_BUSY,
    sqlite3.SQLITE_LOCKED: Code.LEDGER_BUSY,
    sqlite3.SQLITE_CONSTRAINT: Code.EVENT_TWICE,
    sqlite3.SQLITE_CORRUPT: Code.LEDGER_CORRUPT,
    sqlite3.SQLITE_NOTADB: Code.LEDGER_CORRUPT,
    # A table or column is missing, or has other content than ours can have.
    sqlite3.SQLITE_ERROR: Code.LEDGER_CORRUPT,
}


class Access(Enum):
    """What the file is opened for."""

    WRITE = "rwc"
    READ = "ro"


def _make_private(path: Path) -> None:
    """An empty file that only its owner may read; SQLite gives its companions the same mode.

    Made without opening it: closing a descriptor would drop the locks that another thread holds on
    the file. The umask belongs to the whole process and is not touched.
    """
    with suppress(FileExistsError):
        os.mknod(path, stat.S_IFREG | _FILE_MODE)
        path.chmod(_FILE_MODE)


def _make_names_durable(folder: Path) -> None:
    """What was written to a file is of no use when its name is lost; not every disk can do this."""
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with suppress(OSError):
            os.fsync(opened)
    finally:
        os.close(opened)


def _require_plain(path: Path) -> None:
    """Raises where a name is taken by something that is no file: to open one may wait for ever."""
    for suffix in ("", "-wal", "-shm", "-journal", "-turn"):
        name = f"{path}{suffix}"
        try:
            mode = os.stat(name).st_mode  # noqa: PTH116 - five of them for each reader
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(mode):
            message = f"`{name}` is not a file: {_KINDS.get(stat.S_IFMT(mode), 'a device')}"
            raise LedgerProblem(
                Code.LEDGER_CORRUPT, message, help_line="move it away, and restore a backup there"
            )


class SqliteTransaction:
    """Statements on one connection."""

    dialect = Dialect.SQLITE

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def run(self, statement: str, parameters: Sequence[Value] = ()) -> int:
        """Executes one statement; returns how many rows it changed."""
        return self._connection.execute(statement, parameters).rowcount

    def run_many(self, statement: str, rows: Sequence[Sequence[Value]]) -> None:
        """Executes one statement for each row of parameters."""
        self._connection.executemany(statement, rows)

    def rows(self, statement: str, parameters: Sequence[Value] = ()) -> Iterator[Row]:
        """The rows of a query, one by one."""
        return self._connection.execute(statement, parameters)


class _View(SqliteTransaction):
    """Queries whose answers end with it, so that none of them holds the view that it was read in."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        super().__init__(connection)
        self._answers: list[sqlite3.Cursor] = []

    def rows(self, statement: str, parameters: Sequence[Value] = ()) -> Iterator[Row]:
        """The rows of a query, one by one."""
        answer = self._connection.execute(statement, parameters)
        if self.is_small:
            self._answers.append(answer)
        return answer

    @property
    def is_small(self) -> bool:
        """Whether every answer is known; beyond a few, the whole connection ends instead."""
        return len(self._answers) < _MOST_ANSWERS

    def end(self) -> None:
        """Lets go of what was read, also of the pages in memory: the next reader asks the disk."""
        for answer in self._answers:
            answer.close()
        self.run("COMMIT")
        self.run("PRAGMA shrink_memory")


class _Reader(NamedTuple):
    """A connection for queries, the file that it is of, and the process that may use it."""

    connection: sqlite3.Connection
    file: os.stat_result
    process: int


def _let_go(idle: "SimpleQueue[_Reader]") -> None:
    with suppress(Empty):
        while True:
            idle.get_nowait().connection.close()


class SqliteDatabase:
    """One file; made on first use unless it is opened for reading, its folder already there."""

    dialect = Dialect.SQLITE

    def __init__(
        self, path: Path, access: Access = Access.WRITE, *, patience: float = BUSY_SECONDS
    ) -> None:
        self.path = path
        self._access = access
        self._patience = patience
        self._opened_by = os.getpid()
        self._one_writer, self._one_renewal = Lock(), Lock()
        self._logs: SimpleQueue[int] = SimpleQueue()
        self._is_log_doubtful = self._is_log_inherited = False
        idle: SimpleQueue[_Reader] = SimpleQueue()
        self._idle = idle
        with _translated(path), ExitStack() as opened:
            is_new = access is Access.WRITE and not path.exists()
            if access is Access.WRITE:
                _make_private(path)
            self._connection = connect(path, access, patience)
            opened.callback(self._connection.close)
            if access is Access.WRITE:
                self._turn = WriteTurn(path.with_name(f"{path.name}-turn"), patience)
                opened.callback(self._turn.close)
                for _ in range(_SYNCS_AT_ONCE):
                    log = os.open(f"{path}-wal", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
                    opened.callback(os.close, log)
                    self._logs.put(log)
                self._files = [(str(name), name.stat()) for name in (path, Path(f"{path}-wal"))]
                if is_new:
                    _make_names_durable(path.parent)
                # Of a sync that failed only those know who had the log open; they may be gone.
                self._is_log_inherited = self._files[1][1].st_size > 0
            # Before the writer: whoever is last to let go of the file empties its log.
            opened.callback(_let_go, idle)
            # A database that nobody holds any more is closed, and not left to the garbage
            # collector's own moment and warning.
            self._closer = weakref.finalize(self, opened.pop_all().close)

    @contextmanager
    def committing(self) -> Iterator[Transaction]:
        """A transaction that may write; committed when the block ends, undone when it raises."""
        require_same_process(self._opened_by)
        with self._one_writer, _translated(self.path):
            self._require_in_place()
            with self._turn.taken():
                try:
                    self._connection.execute("BEGIN IMMEDIATE")
                    yield SqliteTransaction(self._connection)
                    self._connection.execute("COMMIT")
                except BaseException:
                    # Ctrl-C may come when it has just begun; and a failed COMMIT has sometimes
                    # undone the transaction already.
                    with suppress(sqlite3.OperationalError):
                        self._connection.execute("ROLLBACK")
                    raise

    def sync(self) -> None:
        """Returns when everything that was committed is on disk; raises when it may not be."""
        with _translated(self.path):
            if self._is_log_doubtful or self._is_log_inherited:
                self._begin_log_anew()
            # Each is used by one thread at a time: of one error the system tells each of them once.
            log = self._logs.get()
            try:
                _to_disk(log)
            except OSError:
                self._is_log_doubtful = True
                raise
            finally:
                self._logs.put(log)
            self._require_in_place()

    def _begin_log_anew(self) -> None:
        """Copies the log into the database, which is synced, and empties it.

        A sync that failed may leave for ever unwritten what it was to write, and the next one
        succeeds all the same; so nothing more is built on a log that had one. Whether an inherited
        one had is not known: it is begun anew as soon as nobody else is using it.
        """
        with self._one_renewal:
            if self._is_log_inherited and not self._is_log_doubtful:
                with self._one_writer, self._turn.taken(), self._without_patience():
                    self._is_log_inherited = not self._empties_log()
            if not self._is_log_doubtful:
                return
            logs = [self._logs.get() for _ in range(_SYNCS_AT_ONCE)]
            try:
                with self._one_writer, self._turn.taken():
                    is_empty = self._empties_log()
                if not is_empty:
                    raise LedgerProblem(Code.LEDGER_BUSY, f"`{self.path}`: its log is being read")
                for log in logs:
                    with suppress(OSError):  # the error that is known already
                        _to_disk(log)
                self._is_log_doubtful = self._is_log_inherited = False
            finally:
                for log in logs:
                    self._logs.put(log)

    def _empties_log(self) -> bool:
        done = self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        return bool(done[0] == 0)

    @contextmanager
    def _without_patience(self) -> Iterator[None]:
        self._connection.execute("PRAGMA busy_timeout=0")
        try:
            yield
        finally:
            self._connection.execute(f"PRAGMA busy_timeout={int(self._patience * 1000)}")

    @contextmanager
    def writing(self) -> Iterator[Transaction]:
        """A transaction that may write; durable when the block ends, undone when it raises."""
        with self.committing() as transaction:
            yield transaction
        self.sync()

    @contextmanager
    def reading(self) -> Iterator[Transaction]:
        """A consistent view for queries; writers go on meanwhile."""
        with _translated(self.path), ExitStack() as held:
            reader = self._reader()
            held.callback(reader.connection.close)
            reader.connection.execute("BEGIN")
            view = _View(reader.connection)
            yield view
            is_ours = self._closer.alive and reader.process == self._opened_by
            if is_ours and view.is_small and self._idle.qsize() < _MOST_IDLE:
                view.end()
                held.pop_all()
                self._idle.put(reader)

    def _reader(self) -> "_Reader":
        """One that is idle and still of the file that has the name; or another."""
        process = os.getpid()
        while process == self._opened_by:  # a child of this process has none of its own
            try:
                reader = self._idle.get_nowait()
            except Empty:
                break
            if _is_still(str(self.path), reader.file):
                return reader
            reader.connection.close()
        connection = connect(self.path, Access.READ, self._patience)
        try:
            return _Reader(connection, self.path.stat(), process)
        except BaseException:
            connection.close()
            raise

    def put_into_one_file(self) -> None:
        """Leaves nothing in the log, so that the database file has all there is; raises if it is read."""
        with _translated(self.path), self._one_writer, self._turn.taken():
            if not self._empties_log():
                raise LedgerProblem(Code.LEDGER_BUSY, f"`{self.path}`: its log is being read")

    def close(self) -> None:
        """Lets go of the file."""
        with self._one_writer:
            self._closer()

    def _require_in_place(self) -> None:
        """Raises where what is committed would be found by nobody, although the disk takes it."""
        if not self._closer.alive:
            raise LedgerProblem(Code.LEDGER_UNWRITABLE, f"`{self.path}` was closed")
        for path, opened in self._files:
            if not _is_still(path, opened):
                raise LedgerProblem(
                    Code.LEDGER_UNWRITABLE,
                    f"`{path}` was removed or replaced while it was in use",
                    help_line="start the program again, and put files there only while none runs",
                )


def _to_disk(log: int) -> None:
    """Returns when it is there; macOS has to be asked for more than that it left our hands."""
    on_linux = getattr(os, "fdatasync", None)
    if on_linux is not None:
        on_linux(log)
        return
    import fcntl  # noqa: PLC0415 - not needed on Linux

    full = getattr(fcntl, "F_FULLFSYNC", None)
    os.fsync(log) if full is None else fcntl.fcntl(log, full)


def _is_still(path: str, opened: os.stat_result) -> bool:
    try:
        return os.path.samestat(os.stat(path), opened)  # noqa: PTH116 - four times an event
    except FileNotFoundError:
        return False


def connect(path: Path, access: Access, patience: float) -> sqlite3.Connection:
    """A connection of its own to the file, prepared for what it is opened for."""
    _require_plain(path)
    try:
        return _prepared(path, f"mode={access.value}", access, patience)
    except sqlite3.OperationalError:
        # A file on a read-only disk has no room for the files that readers share; without a log
        # beside it, it is whole as it stands.
        log = path.with_name(f"{path.name}-wal")
        if access is Access.WRITE or not path.is_file() or log.exists():
            raise
        return _prepared(path, "immutable=1", access, patience)


def _prepared(path: Path, how: str, access: Access, patience: float) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"file:{quote(os.fsencode(path))}?{how}",
        uri=True,
        timeout=patience,
        isolation_level=None,
        check_same_thread=False,
    )
    try:
        connection.execute("PRAGMA cell_size_check=ON")
        if access is Access.WRITE:
            _write_ahead(connection, patience)
            connection.execute("PRAGMA synchronous=NORMAL")  # `sync` does the rest
            connection.execute("PRAGMA foreign_keys=ON")
            if sys.platform == "darwin":
                connection.execute("PRAGMA fullfsync=ON")
            # The log exists, and stays while this connection is open, once it was written or read.
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("COMMIT")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


def _write_ahead(connection: sqlite3.Connection, patience: float) -> None:
    """Has the file written ahead, which a new one is not yet.

    Of several processes that find it new at the same time, each keeps the others from it: SQLite
    refuses one at once, or lets all of them wait for each other. So nobody waits while holding on.
    """
    if connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal":
        return
    until = time.monotonic() + patience
    connection.execute("PRAGMA busy_timeout=0")
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
            break
        except sqlite3.OperationalError as problem:
            is_busy = problem.sqlite_errorcode & _PRIMARY == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() >= until:
                raise
        time.sleep(_BETWEEN_TRIES)
    connection.execute(f"PRAGMA busy_timeout={int(patience * 1000)}")


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    """Turns what SQLite and the system raise into our errors, with the file's name in it."""
    try:
        yield
    except sqlite3.Error as problem:
        raise LedgerProblem(_code_of(problem), f"`{path}`: {problem}") from problem
    except UnicodeDecodeError as problem:
        message = f"`{path}`: a text in it is none any more"
        raise LedgerProblem(Code.LEDGER_CORRUPT, message) from problem
    except OSError as problem:
        said = (problem.strerror or "cannot be used").lower()
        raise LedgerProblem(Code.LEDGER_UNWRITABLE, f"`{path}`: {said}") from problem


def _code_of(problem: sqlite3.Error) -> Code:
    if isinstance(problem, sqlite3.OperationalError) and not hasattr(problem, "sqlite_errorcode"):
        return Code.LEDGER_CORRUPT  # the driver's own: it was given a text that is none
    number = getattr(problem, "sqlite_errorcode", 0)
    return _CODES.get(number & _PRIMARY, Code.LEDGER_UNWRITABLE)
