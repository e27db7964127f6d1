"""A document under a name that a person gave: whole, durable, never over another, removable."""

import os
import resource
import stat
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.service.placedfile import place_new


def names_in(folder: Path) -> list[str]:
    """Whatever lies in it."""
    return sorted(path.name for path in folder.iterdir())


def test_the_file_is_there_whole_and_nothing_else(tmp_path: Path) -> None:
    """Readable by others as the umask allows; the name it was written under is gone."""
    before = os.umask(0o022)
    try:
        placed = place_new(str(tmp_path / "a.json"), b"content")
    finally:
        os.umask(before)
    assert (tmp_path / "a.json").read_bytes() == b"content"
    assert stat.S_IMODE((tmp_path / "a.json").stat().st_mode) == 0o644
    assert names_in(tmp_path) == ["a.json"]
    placed.take_back()
    assert names_in(tmp_path) == []
    placed.take_back()


def test_only_our_own_file_is_taken_back(tmp_path: Path) -> None:
    """What somebody else put in its place meanwhile stays."""
    placed = place_new(str(tmp_path / "a.json"), b"content")
    (tmp_path / "b.json").write_text("theirs")
    (tmp_path / "b.json").replace(tmp_path / "a.json")
    placed.take_back()
    assert (tmp_path / "a.json").read_text() == "theirs"


@pytest.mark.parametrize("kind", ["file", "folder", "link", "dangling link"])
def test_nothing_is_ever_overwritten(tmp_path: Path, kind: str) -> None:
    """Whatever stands there already, it is refused and stays, and nothing is left behind."""
    name = tmp_path / "taken"
    if kind == "file":
        name.write_text("mine")
    elif kind == "folder":
        name.mkdir()
    else:
        name.symlink_to(tmp_path if kind == "link" else tmp_path / "nowhere")
    before = names_in(tmp_path)
    with pytest.raises(UsageProblem) as caught:
        place_new(str(name), b"content")
    assert caught.value.code is Code.FILE_UNUSABLE
    assert names_in(tmp_path) == before
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("name", ["missing/a.json", "", ".", "a" * 256, "a\0b"])
def test_a_name_that_cannot_be_used_is_said(tmp_path: Path, name: str) -> None:
    """One error, and nothing left behind."""
    with pytest.raises(UsageProblem) as caught:
        place_new(f"{tmp_path}/{name}", b"content")
    assert caught.value.code is Code.FILE_UNUSABLE
    assert names_in(tmp_path) == []


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    """The limit of this process on the size of files stands in for it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
    try:
        with pytest.raises(UsageProblem, match="file too large"):
            place_new(str(tmp_path / "a.json"), b"x" * 4096)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert names_in(tmp_path) == []
