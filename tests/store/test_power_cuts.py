"""An acknowledged event survives a power cut, whatever the disk made of what was not synced yet."""

import sys
from pathlib import Path

from consentry.store.migrations import migrate
from consentry.store.sqlite import SqliteDatabase
from tests.store.crashes import CHANGE, Said, make_appended, require_whole
from tests.store.powercuts import Disk, everything, nothing, some, trace
from tests.store.sizes import IS_FULL
from tests.store.systemcalls import require_tracing

PROGRAM = (sys.executable, "-m", "tests.store.crashes")
APPENDS = 120  # enough for the log to be copied into the database and begun anew


def test_a_power_cut_at_any_call_loses_nothing_that_was_acknowledged(tmp_path: Path) -> None:
    """Folders are built from what was synced and a part of the rest; each opens and verifies."""
    require_tracing()
    folder = tmp_path / "store"
    folder.mkdir()
    database = SqliteDatabase(folder / "store.db")
    migrate(database)
    make_appended(database)
    database.close()
    disk = Disk(folder)
    copied_while_appending, moments = False, 0
    argv = [*PROGRAM, "end", str(folder / "store.db"), CHANGE, str(APPENDS)]
    for number, line in enumerate(trace(argv, tmp_path / "trace")):
        played = disk.play(line)
        if played is None:
            continue
        is_copying = bool(disk.files["store.db"].pending) and disk.said.count("told") < APPENDS
        copied_while_appending |= is_copying
        every = (1 if is_copying else 4) if IS_FULL else (10 if is_copying else 80)
        if number % every:
            continue
        moments += 1
        ways = (nothing, everything, some(number)) if IS_FULL else (nothing, some(number))
        for way in ways:
            after = tmp_path / f"after-{number}-{ways.index(way)}"
            disk.cut(after, way)
            left = SqliteDatabase(after / "store.db")
            require_whole(left, [Said.read(disk.said)], CHANGE)
            left.close()
            for path in after.iterdir():
                path.unlink()
    assert disk.said.count("told") == APPENDS
    assert copied_while_appending
    assert moments > 20
