"""Files a person names: read in bounds, written only when new, whole or not at all."""

import os
import stat
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.service.userfiles import new_file, read_named, write_new


def unusable(name: Path) -> str:
    """What is said about a file that cannot be made; that it is refused is asserted."""
    with pytest.raises(UsageProblem) as caught, new_file(str(name)) as file:
        file.write(b"never")
    assert caught.value.code is Code.FILE_UNUSABLE
    return caught.value.message


def test_a_file_is_written_piece_by_piece_and_closed_to_others(tmp_path: Path) -> None:
    """Mode 0600 unless it is for everybody."""
    with new_file(str(tmp_path / "a")) as file:
        file.write(b"one ")
        file.write(b"two")
    assert (tmp_path / "a").read_bytes() == b"one two"
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) & 0o077 == 0
    write_new(str(tmp_path / "b"), b"all")
    assert read_named(str(tmp_path / "b")) == b"all"


@pytest.mark.parametrize("problem", [ValueError, KeyboardInterrupt, SystemExit])
def test_a_file_left_by_an_error_is_removed(tmp_path: Path, problem: type[BaseException]) -> None:
    """Half a file is never taken for a whole one; the error passes as it is."""

    def fail() -> None:
        with new_file(str(tmp_path / "a")) as file:
            file.write(b"half")
            file.flush()
            raise problem

    with pytest.raises(problem):
        fail()
    assert list(tmp_path.iterdir()) == []


def test_a_failure_to_write_is_one_error_and_leaves_nothing(tmp_path: Path) -> None:
    """As a full disk answers."""

    def fail() -> None:
        with new_file(str(tmp_path / "a")) as file:
            file.write(b"half")
            raise OSError(28, "No space left on device")

    with pytest.raises(UsageProblem) as caught:
        fail()
    assert caught.value.message == f"`{tmp_path / 'a'}`: no space left on device"
    assert list(tmp_path.iterdir()) == []


def test_what_somebody_else_put_in_its_place_is_not_removed(tmp_path: Path) -> None:
    """Only the file that was made here goes away."""

    def fail() -> None:
        with new_file(str(tmp_path / "a")):
            (tmp_path / "other").write_text("theirs")
            (tmp_path / "other").rename(tmp_path / "a")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert (tmp_path / "a").read_text() == "theirs"


def test_nothing_is_overwritten_or_followed(tmp_path: Path) -> None:
    """A file, a folder, a link and a pipe in the way; a folder that is not there."""
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    os.mkfifo(tmp_path / "pipe")
    for name in ("file", "folder", "link", "pipe"):
        assert "exists already" in unusable(tmp_path / name)
    assert "no such file" in unusable(tmp_path / "nowhere" / "x").lower()
    assert (tmp_path / "file").read_text() == "mine"
    assert not (tmp_path / "elsewhere").exists()
