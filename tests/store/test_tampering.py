"""Every single change behind the ledger's back is found, and the first bad event is named.

What is no change of the ledger is not looked for: free pages, the order in which rows lie, indexes,
and tables that are filled from events, which `rebuild` makes again.
"""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consentry.base.errors import LedgerProblem
from consentry.record.chain import ChainFault, ChainRow
from consentry.store.database import Database, Dialect
from consentry.store.history import History
from consentry.store.migrations import migrate
from consentry.store.postgres import PostgresDatabase
from consentry.store.sqlite import Access, SqliteDatabase
from tests.store.conftest import Store
from tests.store.postgresserver import PostgresServer
from tests.store.tampering import Change, changes, fill, lay_open

ALL_LIVE = "all live"
ARCHIVED = pytest.mark.parametrize("archived", [ALL_LIVE, "some archived"])
LEDGER = (
    "SELECT writer, seq, hash, CAST(body AS BLOB) FROM ledger_event NOT INDEXED ORDER BY id",
    "SELECT writer, seq, hash FROM ledger_head NOT INDEXED ORDER BY writer",
    "SELECT writer, seq, hash, event_id, archive_id FROM archived_event ORDER BY writer, seq",
)


def fault_of(database: Database) -> ChainFault | LedgerProblem | None:
    """What verify finds, or why it cannot read the ledger at all."""
    try:
        found = History(database).verify()
    except LedgerProblem as problem:
        return problem
    return found if isinstance(found, ChainFault) else None


def rows_of(database: Database) -> list[ChainRow]:
    """All that is live."""
    return sorted(History(database).events())


@pytest.fixture
def whole(tmp_path: Path, archived: str) -> Path:
    """A file with a whole ledger, nothing of it in a log."""
    path = tmp_path / "whole.db"
    database = SqliteDatabase(path)
    migrate(database)
    fill(database, archived=archived != ALL_LIVE)
    assert fault_of(database) is None
    database.close()
    return path


@ARCHIVED
def test_any_single_change_of_a_row_in_a_file_is_found(whole: Path) -> None:
    """By statements, on a copy each time."""
    opened = SqliteDatabase(whole)
    rows = rows_of(opened)
    with opened.writing() as transaction:
        lay_open(transaction)
    assert fault_of(opened) is None
    opened.close()

    @given(changes(Dialect.SQLITE, rows))
    def found(change: Change) -> None:
        path = shutil.copyfile(whole, whole.with_name("changed.db"))
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for statement, values in change.statements:
                connection.execute(statement, values)
        require_named(fault_in(path), change)

    found()


def fault_in(path: Path) -> ChainFault | LedgerProblem | None:
    """What verify finds in a file that it may only read."""
    try:
        database = SqliteDatabase(path, Access.READ)
    except LedgerProblem as problem:
        return problem
    with closing(database):
        return fault_of(database)


def require_named(fault: ChainFault | LedgerProblem | None, change: Change) -> None:
    """Asserts that it was found, and where."""
    assert isinstance(fault, ChainFault), fault
    assert (fault.writer, fault.seq) in change.places, fault


@pytest.mark.parametrize("store", [Dialect.POSTGRESQL], ids=str, indirect=True)
@ARCHIVED
def test_any_single_change_of_a_row_on_a_server_is_found(store: Store, archived: str) -> None:
    """By statements; the rows are put back each time."""
    database = store.open()
    fill(database, archived=archived != ALL_LIVE)
    rows = rows_of(database)
    with database.writing() as transaction:
        lay_open(transaction)
        for table in ("event", "head"):
            transaction.run(f"CREATE TABLE saved_{table} AS TABLE ledger_{table}")
    assert fault_of(database) is None

    @given(changes(Dialect.POSTGRESQL, rows))
    def found(change: Change) -> None:
        with database.writing() as transaction:
            for table in ("event", "head"):
                transaction.run(f"DELETE FROM ledger_{table}")  # noqa: S608 - of ours
                transaction.run(f"INSERT INTO ledger_{table} TABLE saved_{table}")
            for statement, values in change.statements:
                transaction.run(statement, values)
        require_named(fault_of(database), change)

    found()


def test_a_byte_flipped_under_a_server_is_found(
    postgres_server: PostgresServer, postgres_url: str
) -> None:
    """In the server's own file, while it is stopped: its checksums tell, and we say so."""
    database = PostgresDatabase(postgres_url)
    migrate(database)
    fill(database, archived=False)
    name = postgres_url.partition("?")[0].rpartition("/")[2]
    [(file,)] = postgres_server.run("SELECT pg_relation_filepath('ledger_event')", name)
    postgres_server.stop()
    path = postgres_server.data / str(file)
    content = path.read_bytes()
    path.write_bytes(with_flipped(content, content.index(b'"eventId"'), 1))
    postgres_server.start()
    fault = fault_of(database)
    database.close()
    assert isinstance(fault, LedgerProblem)
    assert fault.code == "ledger-corrupt"
    assert "backup" in fault.help_line


@ARCHIVED
def test_any_byte_of_an_event_on_disk_is_missed_when_it_changes(whole: Path) -> None:
    """In the file itself, past every check of the database: each event is named."""
    opened = SqliteDatabase(whole)
    rows = rows_of(opened)
    opened.close()
    content = whole.read_bytes()
    # A long event is in several pieces; its first one is found by its whole beginning.
    pieces = [(row, content.index(row.body[:400])) for row in rows if len(row.body) >= 400]
    assert len(pieces) > len(rows) // 2

    @given(st.sampled_from(pieces), st.integers(0, 399), st.integers(1, 255))
    def found(piece: tuple[ChainRow, int], offset: int, mask: int) -> None:
        row, start = piece
        flipped = whole.with_name("flipped.db")
        flipped.write_bytes(with_flipped(content, start + offset, mask))
        fault = fault_in(flipped)
        assert isinstance(fault, ChainFault), fault
        assert (fault.writer, fault.seq) == (row.writer, row.seq)

    found()


@ARCHIVED
def test_any_byte_of_the_file_that_changes_the_ledger_is_missed(whole: Path) -> None:
    """Wherever it lies; whether the ledger changed is asked with a plain connection."""
    content = whole.read_bytes()
    before = ledger_in(whole)
    changed = 0

    @given(st.integers(0, len(content) - 1), st.integers(1, 255))
    def found(position: int, mask: int) -> None:
        nonlocal changed
        flipped = whole.with_name("flipped.db")
        flipped.write_bytes(with_flipped(content, position, mask))
        fault = fault_in(flipped)
        if ledger_in(flipped) != before:
            changed += 1
            assert fault is not None
        if isinstance(fault, LedgerProblem):
            assert fault.code == "ledger-corrupt", fault

    found()
    assert changed


def with_flipped(content: bytes, position: int, mask: int) -> bytes:
    """The same bytes but for one."""
    return content[:position] + bytes([content[position] ^ mask]) + content[position + 1 :]


def ledger_in(path: Path) -> list[object] | None:
    """The rows of the ledger as the file has them; None where it cannot be read."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        connection.text_factory = bytes
        try:
            return [row for query in LEDGER for row in connection.execute(query)]
        except (sqlite3.DatabaseError, UnicodeDecodeError):
            return None
