"""What a run has on the disk is counted whole when it is over, however it was spread."""

import os
from pathlib import Path

import pytest

from consentry.enforce.diskcount import DiskCount

MIB = 1 << 20
LIMIT = 18 * MIB
FOLDERS = 3_500


@pytest.fixture
def many(tmp_path: Path) -> Path:
    """So many folders that no single look gets through them."""
    for number in range(FOLDERS):
        (tmp_path / f"{number:05}").mkdir()
    return tmp_path


def _counting(folder: Path) -> DiskCount:
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    # A clock that stands still: nothing is looked at because time has passed.
    return DiskCount([opened], LIMIT, clock=lambda: -1.0)


def _write(folder: Path, mebibytes: int) -> None:
    file = folder / "large"
    file.write_bytes(os.urandom(mebibytes * MIB))
    with file.open("rb") as written:
        os.fsync(written.fileno())


def test_what_is_written_last_is_counted(many: Path) -> None:
    """A single look gets through a part of it; the last one goes to the end."""
    count = _counting(many)
    try:
        _write(many / f"{FOLDERS // 2:05}", 20)
        count.sample(None)
        last = count.last()
    finally:
        count.close()
    assert last is not None
    assert last > LIMIT


def test_less_is_less(many: Path) -> None:
    """With folders of their own size counted, and without a limit nothing is."""
    count = _counting(many)
    unlimited = DiskCount([os.open(many, os.O_RDONLY | os.O_DIRECTORY)], None)
    try:
        _write(many / "00000", 2)
        assert count.last() is None
        assert unlimited.last() is None
    finally:
        count.close()
        unlimited.close()
