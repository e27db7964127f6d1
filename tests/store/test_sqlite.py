"""The file under the ledger: whatever is done to it meanwhile, nothing is acknowledged and lost."""

import contextlib
import os
import socket
import sqlite3
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem
from consentry.store.backup import back_up
from consentry.store.history import History
from consentry.store.sqlite import Access, SqliteDatabase
from tests.store.ledgers import fresh_drafts, open_ledger


@pytest.mark.parametrize("umask", [0o000, 0o277])
def test_files_are_the_owners_whatever_the_umask_is(tmp_path: Path, umask: int) -> None:
    """CONSENT ledger: closed to others from the first moment; the umask of the process stays."""
    path = tmp_path / "ledger.db"
    before = os.umask(umask)
    try:
        with closing(open_ledger(path)) as ledger:
            ledger.append(fresh_drafts().make())
            modes = {each.name: each.stat().st_mode & 0o777 for each in tmp_path.glob("ledger.db*")}
    finally:
        found = os.umask(before)
    assert found == umask
    assert {"ledger.db", "ledger.db-wal"} <= set(modes)
    assert {name: mode & 0o077 for name, mode in modes.items()} == dict.fromkeys(modes, 0)
    assert modes["ledger.db"] == 0o600


class _InterruptedConnection:
    """One that Ctrl-C meets when a transaction has just begun."""

    def __init__(self, real: sqlite3.Connection) -> None:
        self._real = real

    def execute(self, statement: str) -> sqlite3.Cursor:
        done = self._real.execute(statement)
        if statement.startswith("BEGIN"):
            raise KeyboardInterrupt
        return done


def test_an_interrupt_leaves_no_transaction_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next event is recorded, and nobody else waits for this one's turn."""
    path = tmp_path / "ledger.db"
    drafts = fresh_drafts()
    with closing(open_ledger(path)) as ledger, closing(open_ledger(path)) as other:
        with monkeypatch.context() as interrupted:
            database = ledger.database
            broken = _InterruptedConnection(database._connection)  # type: ignore[attr-defined]
            interrupted.setattr(database, "_connection", broken)
            with pytest.raises(KeyboardInterrupt):
                ledger.append(drafts.make())
        assert [event.seq for event in other.append(drafts.make())] == [1]
        assert [event.seq for event in ledger.append(drafts.make())] == [2]


def remove(path: Path) -> None:
    """Takes the database away."""
    path.unlink()


def remove_log(path: Path) -> None:
    """Takes away the log that the events are in."""
    path.with_name(f"{path.name}-wal").unlink()


def restore(path: Path) -> None:
    """Puts a copy in its place."""
    copy = path.with_name("copy.db")
    with closing(sqlite3.connect(path)) as source, closing(sqlite3.connect(copy)) as target:
        source.backup(target)
    copy.replace(path)


@pytest.mark.parametrize("meddle", [remove, remove_log, restore])
def test_a_file_that_is_removed_or_replaced_meanwhile_takes_no_more_events(
    tmp_path: Path, meddle: Callable[[Path], None]
) -> None:
    """They would lie where nobody finds them; whoever opens the file again goes on."""
    path = tmp_path / "ledger.db"
    ledger, drafts = open_ledger(path), fresh_drafts()
    ledger.append(drafts.make())
    meddle(path)
    with pytest.raises(LedgerProblem, match="removed or replaced") as caught:
        ledger.append(drafts.make())
    assert caught.value.code is Code.LEDGER_UNWRITABLE
    ledger.close()
    again = open_ledger(path)
    (event,) = again.append(drafts.make())
    assert event.seq in (1, 2)
    again.close()


def test_what_is_removed_between_the_commit_and_the_disk_is_not_acknowledged(
    tmp_path: Path,
) -> None:
    """The sync asks again."""
    database = SqliteDatabase(tmp_path / "ledger.db")
    with database.committing() as transaction:
        transaction.run("CREATE TABLE note (text TEXT)")
    (tmp_path / "ledger.db").unlink()
    with pytest.raises(LedgerProblem, match="removed or replaced"):
        database.sync()
    database.close()


def test_a_database_that_was_closed_meanwhile_acknowledges_nothing(tmp_path: Path) -> None:
    """Its descriptors may be those of other files by now."""
    database = SqliteDatabase(tmp_path / "ledger.db")
    with database.committing() as transaction:
        transaction.run("CREATE TABLE note (text TEXT)")
    database.close()
    others = [
        os.open(tmp_path / str(number), os.O_RDWR | os.O_CREAT, 0o600) for number in range(16)
    ]
    try:
        with pytest.raises(LedgerProblem):
            database.sync()
    finally:
        for each in others:
            os.close(each)


def test_a_folder_whose_name_is_no_text_can_hold_the_ledger_and_its_copy(tmp_path: Path) -> None:
    """Names of files are bytes, and mean nothing to SQLite."""
    folder = tmp_path / os.fsdecode(b"\xff?mode=memory#%41")
    folder.mkdir()
    ledger = open_ledger(folder / "ledger.db")
    ledger.append(fresh_drafts().make())
    copy = folder / "copy.db"
    copy.touch()
    back_up(folder / "ledger.db", copy)
    database = SqliteDatabase(copy, Access.READ)
    assert len(list(History(database).events())) == 1
    database.close()
    ledger.close()
    assert (folder / "ledger.db").is_file()


def _as_folder(path: Path) -> None:
    path.mkdir()


def _as_device(path: Path) -> None:
    if os.getuid() != 0:
        pytest.skip("only root makes devices")
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))


def _as_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(path.parent):
        made.bind(path.name)


KINDS = {
    "a pipe": os.mkfifo,
    "a folder": _as_folder,
    "a device": _as_device,
    "a socket": _as_socket,
}


@pytest.mark.parametrize("access", Access)
@pytest.mark.parametrize("suffix", ["", "-wal", "-shm", "-turn"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_file_is_refused_and_not_waited_for(
    tmp_path: Path, kind: str, suffix: str, access: Access
) -> None:
    """Nobody writes to a pipe that is in the ledger's place, and a device has no end."""
    path = tmp_path / "ledger.db"
    if suffix:
        open_ledger(path).close()
        path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
    KINDS[kind](path.with_name(f"{path.name}{suffix}"))
    with pytest.raises(LedgerProblem) as caught:
        SqliteDatabase(path, access)
    assert caught.value.code is Code.LEDGER_CORRUPT
    assert caught.value.message == f"`{path}{suffix}` is not a file: {kind}"


def test_a_new_ledger_is_there_after_a_power_cut(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its name, and that of its log, are made durable when it is made; later that is not needed."""
    synced: list[os.stat_result] = []
    fsync = os.fsync
    monkeypatch.setattr(
        os, "fsync", lambda opened: (synced.append(os.fstat(opened)), fsync(opened))
    )
    path = tmp_path / "ledger.db"
    SqliteDatabase(path).close()
    assert [os.path.samestat(each, tmp_path.stat()) for each in synced] == [True]
    SqliteDatabase(path).close()
    assert len(synced) == 1
