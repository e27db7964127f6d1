"""What a name leads to is told as the box knows it, however it is spelled and whatever it meets."""

import os
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from consentry.enforce.native.namesinside import NamesInside, whole_name


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
    assert names.find(os.getpid(), tree + spelled, keeps_link=False) == (
        True,
        tree + place,
        is_folder,
    )


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
    assert names.find(os.getpid(), tree + spelled, keeps_link=False) == (False, tree + place, False)


def test_a_link_that_is_meant_itself_is_not_followed(names: NamesInside, tree: bytes) -> None:
    """As for a name that is to be removed."""
    for name in (b"/to_file", b"/to_nowhere"):
        assert names.find(os.getpid(), tree + name, keeps_link=True) == (True, tree + name, False)


def test_names_are_relative_to_the_folder_that_the_call_names(tree: bytes) -> None:
    """Or to the one that the process stands in."""
    folder = os.open(tree + b"/folder", os.O_RDONLY)
    try:
        assert whole_name(os.getpid(), folder, b"file") == tree + b"/folder/file"
        assert whole_name(os.getpid(), None, b"file") == os.fsencode(Path.cwd() / "file")
        assert whole_name(os.getpid(), folder, b"/file") == b"/file"
    finally:
        os.close(folder)


def test_a_name_may_lead_through_a_process(names: NamesInside, tree: bytes) -> None:
    """By an open file, its folder or its root, and by links to those: it leads to the thing's name."""
    me = os.getpid()
    written = os.open(tree + b"/folder/file", os.O_WRONLY)
    folder = os.open(tree + b"/folder", os.O_PATH)
    through = b"/proc/self/fd/%d" % written
    Path(os.fsdecode(tree + b"/to_open")).symlink_to(os.fsdecode(through))
    Path(os.fsdecode(tree + b"/to_all")).symlink_to(os.fsdecode(b"/proc/self/fd"))
    spelled = (
        through,
        b"/proc/%d/fd/%d" % (me, written),
        b"/proc/thread-self/fd/%d" % written,
        b"/proc/self/task/%d/fd/%d" % (me, written),
        b"/dev/fd/%d" % written,
        b"/proc/self/fd/%d/file" % folder,
        b"/proc/self/fd/%d/../to_file" % folder,
        b"/proc/self/root" + tree + b"/to_folder/file",
        tree + b"/to_open",
        tree + b"/to_all/%d" % written,
    )
    try:
        for name in spelled:
            found = names.find(me, name, keeps_link=False)
            assert found == (True, tree + b"/folder/file", False), name
        assert names.find(me, b"/proc/self/fd/%d" % folder, keeps_link=False) == (
            True,
            tree + b"/folder",
            True,
        )
        Path(os.fsdecode(tree + b"/folder/file")).unlink()
        found = names.find(me, through, keeps_link=False)
        assert found == (True, tree + b"/folder/file", False), "removed, and still to be read"
    finally:
        os.close(written)
        os.close(folder)


def test_what_leads_through_a_process_to_no_file_is_not_there(names: NamesInside) -> None:
    """Pipes, numbers that are not open, and links that lead to each other."""
    reader, writer = os.pipe()
    try:
        for name in (b"/proc/self/fd/%d" % reader, b"/proc/self/fd/99999", b"/dev/fd/none"):
            assert names.find(os.getpid(), name, keeps_link=False)[0] is False
    finally:
        os.close(reader)
        os.close(writer)


def test_links_without_end_lead_nowhere(names: NamesInside, tree: bytes) -> None:
    """As for the kernel."""
    Path(os.fsdecode(tree + b"/here")).symlink_to(os.fsdecode(b"there"))
    Path(os.fsdecode(tree + b"/there")).symlink_to(os.fsdecode(b"here"))
    for name in (tree + b"/here", b"/proc/self/root" + tree + b"/here"):
        assert names.find(os.getpid(), name, keeps_link=False)[0] is False


def test_a_process_that_means_itself_is_named_by_its_number(names: NamesInside) -> None:
    """The observer's own `/proc/self` is another."""
    me = os.getpid()
    assert names.find(me, b"/proc/self/maps", keeps_link=False) == (
        True,
        b"/proc/%d/maps" % me,
        False,
    )
    assert names.find(me, b"/proc/version", keeps_link=False) == (True, b"/proc/version", False)


def test_a_name_below_a_root_of_the_callers_own(names: NamesInside, tree: bytes) -> None:
    """Where `/` is a folder, links climb no higher than that."""
    folder = tree + b"/folder"
    Path(os.fsdecode(folder + b"/absolute")).symlink_to(os.fsdecode(b"/file"))
    for asked in (b"/file", b"file", b"../../file", b"absolute"):
        found = names.find_below(folder, asked, 0x10, keeps_link=False)
        assert found == (True, folder + b"/file", False)
    assert names.find_below(folder, b"/none", 0x10, keeps_link=False) == (
        False,
        folder + b"/none",
        False,
    )


def test_a_name_too_long_for_us_is_not_taken_for_missing(
    tree: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The program reaches it from where it stands; whoever looks says that it could not."""
    monkeypatch.chdir(os.fsdecode(tree))
    for _ in range(18):
        Path("d" * 200).mkdir()
        os.chdir("d" * 200)
    with pytest.raises(OSError, match="too long"):
        whole_name(os.getpid(), None, b"n" * 240 + b"/" + b"m" * 240)


def test_a_folder_that_is_nowhere_is_looked_for_again_when_a_name_was_made(
    names: NamesInside, tmp_path: Path
) -> None:
    """Until then it is known to be nowhere, and nothing is asked of the kernel."""
    file = os.fsencode(os.path.realpath(tmp_path)) + b"/new/folder/file"
    missing = (False, file, False)
    assert names.find(os.getpid(), file, keeps_link=False) == missing
    Path(os.fsdecode(file)).parent.mkdir(parents=True)
    Path(os.fsdecode(file)).touch()
    assert names.find(os.getpid(), file, keeps_link=False) == missing
    names.forget_absent()
    assert names.find(os.getpid(), file, keeps_link=False) == (True, file, False)


def test_a_link_to_a_name_beside_it_is_followed_there(names: NamesInside, tree: bytes) -> None:
    """As for libraries; also where that is a link again, or nowhere."""
    folder = Path(os.fsdecode(tree)) / "folder"
    for name, target in (("one", "file"), ("two", "one"), ("three", "nowhere"), ("four", ".")):
        (folder / name).symlink_to(target)
    found = {
        name: names.find(os.getpid(), tree + b"/folder/" + name, keeps_link=False)
        for name in (b"one", b"two", b"three", b"four")
    }
    file = (True, tree + b"/folder/file", False)
    assert found == {
        b"one": file,
        b"two": file,
        b"three": (False, tree + b"/folder/three", False),
        b"four": (True, tree + b"/folder", True),
    }
