"""Migrations: forward and back, twice, at once, and refused when the database is newer."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from consentry.base.errors import LedgerProblem
from consentry.store.migrations import MIGRATIONS, NEWEST, migrate, version_of
from consentry.store.sqlite import SqliteDatabase


def tables(path: Path) -> set[str]:
    """What the file really holds."""
    connection = sqlite3.connect(path)
    found = {row[0] for row in connection.execute("SELECT name FROM sqlite_master")}
    connection.close()
    return found


def test_forward_back_and_forward_again(tmp_path: Path) -> None:
    """Each step can be undone, and repeating one changes nothing."""
    database = SqliteDatabase(tmp_path / "db")
    migrate(database)
    migrate(database)
    assert {"ledger_event", "ledger_head"} <= tables(tmp_path / "db")
    migrate(database, to=0)
    assert "ledger_event" not in tables(tmp_path / "db")
    migrate(database)
    with database.reading() as view:
        assert version_of(view) == NEWEST == MIGRATIONS[-1].version


def test_a_newer_database_is_refused_and_not_touched(tmp_path: Path) -> None:
    """An older program does not guess."""
    database = SqliteDatabase(tmp_path / "db")
    migrate(database)
    with database.writing() as transaction:
        transaction.run("UPDATE schema_version SET version = ?", (NEWEST + 1,))
    with pytest.raises(LedgerProblem) as caught:
        migrate(database)
    assert caught.value.code == "ledger-newer"
    with database.reading() as view:
        assert version_of(view) == NEWEST + 1


def test_processes_that_start_at_once_migrate_once(tmp_path: Path) -> None:
    """Eight of them on one fresh file; none fails."""
    program = (
        "import sys; from pathlib import Path\n"
        "from consentry.store.sqlite import SqliteDatabase\n"
        "from consentry.store.migrations import migrate\n"
        "migrate(SqliteDatabase(Path(sys.argv[1])))"
    )
    argv = [sys.executable, "-c", program, str(tmp_path / "db")]
    children = [subprocess.Popen(argv, stderr=subprocess.PIPE, text=True) for _ in range(8)]
    said = [child.communicate()[1] for child in children]
    assert [child.returncode for child in children] == [0] * 8, said
