"""Somebody changes the tree while it is read: nothing from outside is read, and what is seen is refused."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from consentry.base.canonical import digest_bytes
from consentry.examine import plugintree
from consentry.examine.pluginnames import checked_names
from consentry.examine.pluginproblems import Rejection, VerificationError
from consentry.examine.plugintree import PluginTree, read_tree
from tests.examine.plugintrees import File, grow

SECRET = b"a secret that lies outside\n"
IS_FULL = os.environ.get("CONSENTRY_PROOF") == "full"
TRIES = 4000 if IS_FULL else 150


def swap_after_listing(monkeypatch: pytest.MonkeyPatch, place: Path, target: Path) -> None:
    """At the worst moment: the names were read, nothing was opened yet."""

    def listed(plugin: str, above: str, names: list[str]) -> list[str]:
        if place.parent.name == (above.rstrip("/").rpartition("/")[2] or plugin):
            place.rename(place.with_name("aside"))
            place.symlink_to(target)
        return checked_names(plugin, above, names)

    monkeypatch.setattr(plugintree, "checked_names", listed)


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder beside the plugin with something in it."""
    return grow(tmp_path / "outside", {"a.py": File(SECRET)})


@pytest.mark.parametrize("what", ["a.py", "src"])
def test_a_link_swapped_in_is_not_followed(
    tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """In place of a file and in place of a folder."""
    top = grow(tmp_path / "p", {"a.py": File(), "src/a.py": File()})
    swap_after_listing(monkeypatch, top / what, outside / "a.py" if what == "a.py" else outside)
    with pytest.raises(VerificationError) as raised:
        read_tree(top, keep_contents=True)
    assert raised.value.reason is Rejection.CHANGED_WHILE_READ


def test_the_same_name_unswapped_is_read(tmp_path: Path) -> None:
    """What nobody touches is taken."""
    assert read_tree(
        grow(tmp_path / "p", {"a.py": File(b"mine")}), keep_contents=True
    ).contents == {"a.py": b"mine"}


def test_without_the_controls_the_outside_would_be_read(
    tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With following allowed and changes not looked at, the attack of above succeeds."""
    top = grow(tmp_path / "p", {"a.py": File(), "z": File()})
    swap_after_listing(monkeypatch, top / "a.py", outside / "a.py")
    monkeypatch.setattr(plugintree, "_FILE", os.O_RDONLY)
    monkeypatch.setattr(plugintree, "_state", lambda _: ())
    monkeypatch.setattr(plugintree._Walk, "_listed", _listed_once(plugintree._Walk._listed))
    tree = read_tree(top, keep_contents=True)
    assert (tree.contents or {})["a.py"] == SECRET


def _listed_once(real: object) -> object:
    """Lists a folder the first time, and gives the same answer after that."""
    known: dict[str, object] = {}

    def listed(walk: object, descriptor: int, above: str) -> object:
        if above not in known:
            known[above] = real(walk, descriptor, above)  # type: ignore[operator]
        return known[above]

    return listed


def test_a_file_that_is_written_while_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its bytes were read, and then its status is another one."""
    top = grow(tmp_path / "p", {"a.py": File(b"before")})
    os.utime(top / "a.py", (1, 1))
    real = plugintree._Walk._content

    def content(walk: plugintree._Walk, opened: int, path: str, size: int) -> bytes:
        found = real(walk, opened, path, size)
        (top / "a.py").write_bytes(b"after!")
        return found

    monkeypatch.setattr(plugintree._Walk, "_content", content)
    with pytest.raises(VerificationError) as raised:
        read_tree(top, keep_contents=True)
    assert raised.value.reason is Rejection.CHANGED_WHILE_READ


@pytest.mark.parametrize("size", [5, 7])
def test_a_file_of_another_size_than_its_status_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int
) -> None:
    """It grew or shrank between the two, whatever its times say."""
    top = grow(tmp_path / "p", {"a.py": File(b"123456")})
    real = plugintree._Walk._content

    def content(walk: plugintree._Walk, opened: int, path: str, _: int) -> bytes:
        return real(walk, opened, path, size)

    monkeypatch.setattr(plugintree._Walk, "_content", content)
    with pytest.raises(VerificationError) as raised:
        read_tree(top, keep_contents=True)
    assert raised.value.reason is Rejection.CHANGED_WHILE_READ


@contextmanager
def running(work: "threading.Event", step: object) -> Iterator[None]:
    """Calls a step over and over in another thread until the block is left."""

    def loop() -> None:
        while not work.is_set():
            step()  # type: ignore[operator]

    thread = threading.Thread(target=loop)
    thread.start()
    try:
        yield
    finally:
        work.set()
        thread.join()


def tried(top: Path, tries: int) -> tuple[list[PluginTree], set[Rejection]]:
    """What came of reading a tree again and again."""
    trees, reasons = [], set()
    for _ in range(tries):
        try:
            trees.append(read_tree(top, keep_contents=True))
        except VerificationError as refused:
            reasons.add(refused.reason)
    return trees, reasons


def test_a_swapper_that_races_never_gets_the_outside_read(tmp_path: Path, outside: Path) -> None:
    """A folder and a link to another one change places all the time; every answer is held against it."""
    top = grow(tmp_path / "p", {"src/a.py": File(b"inside"), "z.py": File()})
    (tmp_path / "link").symlink_to(outside)

    def swap() -> None:
        for one, other in (
            ("p/src", "held"),
            ("link", "p/src"),
            ("p/src", "link"),
            ("held", "p/src"),
        ):
            (tmp_path / one).rename(tmp_path / other)

    with running(threading.Event(), swap):
        trees, reasons = tried(top, TRIES)
    assert not any(SECRET in (tree.contents or {}).values() for tree in trees)
    assert reasons <= {
        Rejection.CHANGED_WHILE_READ,
        Rejection.LINK_LEAVES,
    }
    assert reasons


def test_what_is_handed_on_is_what_was_hashed_under_a_racing_writer(tmp_path: Path) -> None:
    """Times have the grain of the kernel's clock; whatever slips through, bytes and digest are one."""
    top = grow(tmp_path / "p", {"a.py": File(b"A" * 300_000)})
    turns = [b"B" * 300_000, b"A" * 300_001]

    def write() -> None:
        turns.reverse()
        (top / "a.py").write_bytes(turns[0])

    with running(threading.Event(), write):
        trees, reasons = tried(top, TRIES)
    assert reasons <= {Rejection.CHANGED_WHILE_READ}
    for tree in trees:
        content = (tree.contents or {})["a.py"]
        assert tree.entries[0].digest == digest_bytes(content)
