"""What a name leads to is told as the box knows it, however it is spelled and whatever it meets."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from consentry.enforce.native.namesinside import NamesInside, as_seen_by, whole_name


@pytest.fixture
def names() -> Iterator[NamesInside]:
    """Those of a process that stands in no box: our own."""
    with closing(NamesInside(os.getpid())) as found:
        yield found


@pytest.fixture
def tree(tmp_path: Path) -> bytes:
    """A folder with a file, and links to both."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/file").touch()
    (tmp_path / "folder/.hidden").touch()
    (tmp_path / "to_folder").symlink_to("folder")
    (tmp_path / "to_file").symlink_to(tmp_path / "folder/file")
    (tmp_path / "to_nowhere").symlink_to("nowhere")
    return os.fsencode(os.path.realpath(tmp_path))


@pytest.mark.parametrize(
    ("spelled", "place", "is_folder"),
    [
        (b"/folder/file", b"/folder/file", False),
        (b"/folder", b"/folder", True),
        (b"/folder/", b"/folder", True),
        (b"//folder///file", b"/folder/file", False),
        (b"/folder/../folder/./file", b"/folder/file", False),
        (b"/folder/.hidden", b"/folder/.hidden", False),
        (b"/to_folder/file", b"/folder/file", False),
        (b"/to_file", b"/folder/file", False),
        (b"/to_folder/../to_folder", b"/folder", True),
    ],
)
def test_what_is_there(
    names: NamesInside, tree: bytes, *, spelled: bytes, place: bytes, is_folder: bool
) -> None:
    """Without links, dots and doubled slashes."""
    assert names.find(tree + spelled, keeps_link=False) == (True, tree + place, is_folder)


@pytest.mark.parametrize(
    ("spelled", "place"),
    [
        (b"/nowhere", b"/nowhere"),
        (b"/to_folder/nowhere", b"/folder/nowhere"),
        (b"/no/where", b"/no/where"),
        (b"/to_nowhere", b"/to_nowhere"),
        (b"/folder/file/below", b"/folder/file/below"),
    ],
)
def test_what_is_not_there_has_the_name_that_it_would_have(
    names: NamesInside, tree: bytes, spelled: bytes, place: bytes
) -> None:
    """Its folder as far as that is there."""
    assert names.find(tree + spelled, keeps_link=False) == (False, tree + place, False)


def test_a_link_that_is_meant_itself_is_not_followed(names: NamesInside, tree: bytes) -> None:
    """As for a name that is to be removed."""
    for name in (b"/to_file", b"/to_nowhere"):
        assert names.find(tree + name, keeps_link=True) == (True, tree + name, False)


def test_names_are_relative_to_the_folder_that_the_call_names(tree: bytes) -> None:
    """Or to the one that the process stands in."""
    folder = os.open(tree + b"/folder", os.O_RDONLY)
    try:
        assert whole_name(os.getpid(), folder, b"file") == tree + b"/folder/file"
        assert whole_name(os.getpid(), None, b"file") == os.fsencode(Path.cwd() / "file")
        assert whole_name(os.getpid(), folder, b"/file") == b"/file"
    finally:
        os.close(folder)


def test_a_process_that_means_itself_is_named_by_its_number() -> None:
    """The observer's own `/proc/self` is another."""
    assert as_seen_by(os.getpid(), b"/proc/self/maps") == b"/proc/%d/maps" % os.getpid()
    assert as_seen_by(os.getpid(), b"/proc/version") == b"/proc/version"
