"""An acknowledged event survives a power cut, whatever the disk made of what was not synced yet."""

import shutil
import sys
from pathlib import Path

import pytest

from consentry.store.migrations import migrate
from consentry.store.sqlite import SqliteDatabase
from tests.store.crashes import CHANGE, Said, make_appended, require_whole
from tests.store.powercuts import Chooses, Disk, everything, nothing, some, trace
from tests.store.sizes import IS_FULL, sampled
from tests.store.systemcalls import require_tracing

PROGRAM = (sys.executable, "-m", "tests.store.crashes")
APPENDS = 120  # enough for the log to be copied into the database and begun anew


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a store that has its tables."""
    require_tracing()
    made = tmp_path / "store"
    made.mkdir()
    database = SqliteDatabase(made / "store.db")
    migrate(database)
    make_appended(database)
    database.close()
    return made


def require_kept(disk: Disk, after: Path, way: Chooses) -> None:
    """Asserts that after a power cut now, what was acknowledged is there."""
    disk.cut(after, way)
    left = SqliteDatabase(after / "store.db")
    require_whole(left, [Said.read(disk.said)], CHANGE)
    left.close()
    shutil.rmtree(after)


def test_a_power_cut_at_any_call_loses_nothing_that_was_acknowledged(
    tmp_path: Path, folder: Path
) -> None:
    """Folders are built from what was synced and a part of the rest; each opens and verifies."""
    disk = Disk(folder)
    copied_while_appending, moments = False, 0
    argv = [*PROGRAM, "end", str(folder / "store.db"), CHANGE, str(APPENDS)]
    for number, line in enumerate(trace(argv, tmp_path / "trace")):
        played = disk.play(line)
        if played is None:
            continue
        is_copying = bool(disk.files["store.db"].pending) and disk.said.count("told") < APPENDS
        copied_while_appending |= is_copying
        every = (1 if is_copying else 4) if IS_FULL else (20 if is_copying else 120)
        if number % every:
            continue
        moments += 1
        ways = (nothing, everything, some(number)) if IS_FULL else (nothing, some(number))
        for way in ways:
            require_kept(disk, tmp_path / "after", way)
    assert disk.said.count("told") == APPENDS
    assert copied_while_appending
    assert moments > 20


@pytest.mark.parametrize("number", sampled(range(3, 7), 2))
def test_what_comes_behind_a_failed_sync_is_kept_too(
    tmp_path: Path, folder: Path, number: int
) -> None:
    """The append is told as failed, the next ones do not rely on what it left behind."""
    disk = Disk(folder)
    argv = [*PROGRAM, "try", str(folder / "store.db"), CHANGE, "6"]
    told = 0
    for line in trace(argv, tmp_path / "trace", f"fdatasync:error=EIO:when={number}"):
        played = disk.play(line)
        if played == "write" and disk.said.count("told") > told:
            told += 1
            require_kept(disk, tmp_path / "after", nothing)
    assert Said.read(disk.said).failed == ("ledger-unwritable",)
    assert told == 5


@pytest.mark.parametrize("number", sampled(range(3, 7), 2))
def test_what_comes_behind_a_process_that_was_killed_after_a_failed_sync_is_kept_too(
    tmp_path: Path, folder: Path, number: int
) -> None:
    """Nobody is left who knows of the failure; the next process does not rely on that log either."""
    disk, place = Disk(folder), str(folder / "store.db")
    fault = f"fdatasync:error=EIO:when={number}"
    for line in trace([*PROGRAM, "fail", place, CHANGE], tmp_path / "first", fault, status=-9):
        disk.play(line)
    assert Said.read(disk.said).failed == ("ledger-unwritable",)
    require_kept(disk, tmp_path / "after", nothing)
    before = told = disk.said.count("told")
    for line in trace([*PROGRAM, "end", place, CHANGE, "4"], tmp_path / "second"):
        played = disk.play(line)
        if played == "write" and disk.said.count("told") > told:
            told += 1
            require_kept(disk, tmp_path / "after", nothing)
    assert told == before + 4
