"""A disk that fails at any system call of an append: the caller is told, or it did not matter.

The errors are put in by `strace` at the very call; nothing of the store knows about it.
"""

import shutil
import sys
from pathlib import Path

import pytest

from consentry.store.ledger import Ledger
from consentry.store.migrations import migrate
from consentry.store.sqlite import SqliteDatabase
from tests.record.samples import WRITER
from tests.store.crashes import CHANGE, Said, append, make_appended, require_whole
from tests.store.sizes import sampled
from tests.store.systemcalls import Call, calls_of, failing_at, require_tracing

TRY = (sys.executable, "-m", "tests.store.crashes", "try")
WRITING = ("pwrite64", "ftruncate", "fdatasync")
APPENDS = 3
ONCE, FOR_GOOD = "once", "for good"
FAULTS = (("ENOSPC", FOR_GOOD), ("ENOSPC", ONCE), ("EIO", FOR_GOOD), ("EIO", ONCE))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A folder with a store that has its tables and one event."""
    require_tracing()
    folder = tmp_path / "store"
    folder.mkdir()
    database = SqliteDatabase(folder / "store.db")
    migrate(database)
    make_appended(database)
    database.close()
    return folder


@pytest.mark.parametrize(("error", "how"), sampled(FAULTS, 2))
def test_an_error_of_the_disk_is_told_and_nothing_is_half_written(
    store: Path, error: str, how: str
) -> None:
    """Whoever was told that it is recorded finds it; where all fails, nobody is told so."""

    def trying(folder: Path) -> list[str]:
        return [*TRY, str(folder / "store.db"), CHANGE, str(APPENDS)]

    calls = calls_of(trying(shutil.copytree(store, store.with_name("counted"))), WRITING)
    failures = 0
    for number, call in enumerate(points(calls)):
        folder = shutil.copytree(store, store.with_name(f"failing-{number}"))
        ended = failing_at(call, error, trying(folder), lasting=how == FOR_GOOD)
        said = Said.read(ended.out)
        assert (ended.status, ended.err) == (0, "")
        assert set(said.failed) <= {"ledger-unwritable"}, said
        failures += len(said.failed)
        database = SqliteDatabase(folder / "store.db")
        require_whole(database, [said], CHANGE)
        again = append(Ledger(database, WRITER), CHANGE)
        require_whole(database, [said, again], CHANGE)
        database.close()
    assert failures > 0


def points(calls: list[Call]) -> list[Call]:
    """The syncs, and some of the many writes."""
    pages = [call for call in calls if call.name == "pwrite64"]
    rare = [call for call in calls if call.name != "pwrite64"]
    return sampled(rare, 5) + sampled(pages, 5)
