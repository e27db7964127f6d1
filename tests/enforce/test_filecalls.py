"""Opening below a folder: no link, no climbing, no other mount; also by the walk that stands in."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from consentry.enforce import filecalls
from consentry.enforce.filecalls import move, open_beneath
from consentry.enforce.foldertree import LONGEST_PATH, TooMany, Tree, remove_tree

Open = Callable[[int, bytes], int]


def _by_call(folder: int, path: bytes) -> int:
    return open_beneath(folder, path, os.O_RDONLY)


def _by_walk(folder: int, path: bytes) -> int:
    return filecalls._walked(folder, path, os.O_RDONLY, crosses_mounts=False)


def _descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


BOTH = pytest.mark.parametrize("opens", [_by_call, _by_walk])


def _tree(place: Path) -> Tree:
    (place / "in" / "deep").mkdir(parents=True)
    (place / "in" / "deep" / "f").write_text("inside", encoding="utf-8")
    (place / "in" / "link").symlink_to("deep")
    (place / "in" / "out").symlink_to(place)
    (place / "secret").write_text("outside", encoding="utf-8")
    return Tree(os.open(place / "in", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC))


@BOTH
def test_what_lies_below_is_opened(opens: Open, tmp_path: Path) -> None:
    """A plain path down, and the folder itself by the empty one."""
    with _tree(tmp_path) as tree:
        opened = opens(tree.descriptor, b"deep/f")
        assert os.read(opened, 99) == b"inside"
        os.close(opened)
        top = opens(tree.descriptor, b"")
        assert os.fstat(top).st_ino == (tmp_path / "in").stat().st_ino
        os.close(top)


@BOTH
@pytest.mark.parametrize(
    "path", [b"link", b"link/f", b"out", b"out/secret", b"../secret", b"deep/../../secret", b"/etc"]
)
def test_nothing_leads_out_or_through_a_link(opens: Open, path: bytes, tmp_path: Path) -> None:
    """Links that stay inside are refused with the others: they may be swapped at any time."""
    with _tree(tmp_path) as tree, pytest.raises(OSError):  # noqa: PT011 - whichever refusal it is
        os.close(opens(tree.descriptor, path))


def test_another_mount_is_refused_unless_asked_for() -> None:
    """A rename could not lead there."""
    with Tree(os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)) as tree:
        with pytest.raises(OSError, match="cross-device"):
            tree.open(b"proc", os.O_PATH)
        opened = open_beneath(tree.descriptor, b"proc", os.O_PATH, crosses_mounts=True)
        os.close(opened)
        with pytest.raises(OSError, match="cross-device"):
            os.close(_by_walk(tree.descriptor, b"proc"))


@pytest.mark.parametrize("is_known", [True, False])
def test_a_move_never_replaces(
    is_known: bool,  # noqa: FBT001 - a parameter of the test
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also where the file system does not know the call for it; that answer is made up.

    Every file system that the tests can count on knows it.
    """
    if not is_known:
        monkeypatch.setattr(filecalls, "_renamed", lambda *_: 22)
    (tmp_path / "a").write_text("a", encoding="utf-8")
    (tmp_path / "b").symlink_to("nowhere")
    with Tree(os.open(tmp_path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)) as tree:
        at = tree.descriptor
        with pytest.raises(FileExistsError):
            move(at, b"a", at, b"b")
        move(at, b"a", at, b"c")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["b", "c"]


def test_many_folders_are_reached_with_few_descriptors(tmp_path: Path) -> None:
    """Folders are lent, and closed when too many were asked for."""
    for number in range(200):
        (tmp_path / str(number)).mkdir()
    before = _descriptors()
    with Tree(os.open(tmp_path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)) as tree:
        for number in range(200):
            tree.folder(str(number).encode())
        assert _descriptors() < before + 50
        with pytest.raises(TooMany):
            tree.names(b"", 199)
        assert len(tree.names(b"", 200)) == 200
    assert _descriptors() == before


def test_a_tree_is_removed_whatever_its_modes_and_depth(tmp_path: Path) -> None:
    """Closed folders, links that lead out, and more folders above each other than Python's stack."""
    with _tree(tmp_path) as tree:
        (tmp_path / "in" / "deep").chmod(0)
        remove_tree(tree, b"deep")
        remove_tree(tree, b"out")
        remove_tree(tree, b"nothing")
        at = os.open(tmp_path / "in", os.O_RDONLY | os.O_DIRECTORY)
        os.mkdir("d", dir_fd=at)
        for _ in range(LONGEST_PATH // 2 - 2):
            inner = os.open("d", os.O_RDONLY | os.O_DIRECTORY, dir_fd=at)
            os.mkdir("d", dir_fd=inner)
            os.close(at)
            at = inner
        os.close(at)
        remove_tree(tree, b"d")
    assert [each.name for each in (tmp_path / "in").iterdir()] == ["link"]
    assert (tmp_path / "secret").exists()
