"""The copy of a database that is in use: of one moment, in one file, and a ledger itself."""

import sqlite3
import subprocess
import sys
from pathlib import Path
from threading import Event, Thread

import pytest

from consentry.base.codes import Code
from consentry.base.errors import LedgerProblem, UsageProblem
from consentry.record.chain import ChainFault
from consentry.store.backup import back_up
from consentry.store.history import History
from consentry.store.sqlite import Access, SqliteDatabase
from tests.store.ledgers import fresh_drafts, open_ledger


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A ledger with one event, which is in its log and not in the file yet."""
    return tmp_path / "ledger.db"


@pytest.fixture
def target(tmp_path: Path) -> Path:
    """An empty file in an empty folder."""
    (tmp_path / "safe").mkdir()
    (tmp_path / "safe/copy.db").touch(mode=0o600)
    return tmp_path / "safe/copy.db"


def events_in(path: Path) -> int:
    """How many events the copy has; it must verify, and be read without making any file."""
    database = SqliteDatabase(path, Access.READ)
    heads = History(database).verify()
    database.close()
    assert not isinstance(heads, ChainFault), heads
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    return sum(head.seq for head in heads)


def test_a_copy_has_what_was_recorded_also_what_is_only_in_the_log(
    source: Path, target: Path
) -> None:
    """And needs no file beside it; the original is as it was."""
    ledger, drafts = open_ledger(source), fresh_drafts()
    for _ in range(10):
        ledger.append(drafts.make())
    back_up(source, target)
    assert events_in(target) == 10
    ledger.append(drafts.make())
    ledger.close()
    assert events_in(target) == 10


def test_a_copy_made_while_others_append_is_of_one_moment(source: Path, target: Path) -> None:
    """Two processes and a thread go on recording: nothing is torn, and they lose nothing."""
    ledger, drafts, enough = open_ledger(source), fresh_drafts(), Event()
    ledger.append(drafts.make())

    def go_on() -> None:
        while not enough.is_set():
            ledger.append(drafts.make())

    words = [sys.executable, "-m", "tests.store.ledgers", str(source), "200"]
    processes = [subprocess.Popen(words, stdout=subprocess.DEVNULL) for _ in range(2)]
    thread = Thread(target=go_on)
    thread.start()
    copied = []
    for number in range(5):
        copy = target.parent / f"{number}" / "copy.db"
        copy.parent.mkdir()
        copy.touch(mode=0o600)
        back_up(source, copy)
        copied.append(events_in(copy))
    for process in processes:
        assert process.wait() == 0
    enough.set()
    thread.join()
    heads = ledger.history.verify()
    ledger.close()
    assert not isinstance(heads, ChainFault)
    assert copied == sorted(copied)
    assert copied[-1] <= sum(head.seq for head in heads)


def test_a_copy_can_be_gone_on_with(source: Path, target: Path) -> None:
    """Opened for writing it is a ledger like any other."""
    ledger, drafts = open_ledger(source), fresh_drafts()
    ledger.append(drafts.make())
    ledger.close()
    back_up(source, target)
    copy = open_ledger(target)
    [event] = copy.append(drafts.make())
    heads = copy.history.verify()
    copy.close()
    assert (event.seq, not isinstance(heads, ChainFault)) == (2, True)


def test_a_source_that_is_no_database_is_named(source: Path, target: Path) -> None:
    """And so is a place where no copy can be made."""
    source.write_bytes(b"not a database, but long enough to be looked at as one" * 20)
    with pytest.raises(LedgerProblem) as damaged:
        back_up(source, target)
    assert damaged.value.code is Code.LEDGER_CORRUPT
    source.unlink()
    open_ledger(source).close()
    with pytest.raises(UsageProblem, match="no copy could be made in") as nowhere:
        back_up(source, target.parent / "missing/copy.db")
    assert nowhere.value.code is Code.FILE_UNUSABLE


def test_a_disk_that_fills_up_is_said(source: Path, target: Path) -> None:
    """The copy's own limit on pages stands in for the disk: SQLite says that it is full."""
    ledger, drafts = open_ledger(source), fresh_drafts()
    ledger.append(*(drafts.make(filler="x" * 4000) for _ in range(50)))
    ledger.close()
    script = (
        "import resource, sys; from pathlib import Path; from consentry.store.backup import back_up\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (65536, resource.RLIM_INFINITY))\n"
        "back_up(Path(sys.argv[1]), Path(sys.argv[2]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, source, target], capture_output=True, text=True, check=False
    )
    assert "UsageProblem: no copy could be made" in done.stderr
    with sqlite3.connect(source) as whole:
        assert whole.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    whole.close()
