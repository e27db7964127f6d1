"""Changes applied forth and back, to the letter or not at all."""

import re
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from consentry.examine.diff.applying import apply_change, unapply_change
from consentry.examine.diff.changes import DiffMismatch, FileChange
from consentry.examine.diff.parsing import parse_diff
from tests.examine.diff.gitdiffs import Entry, Tree, difference, new_repository
from tests.examine.diff.samples import AFTER, BEFORE, NOISE

TEXTS = st.lists(st.sampled_from([b"a\n", b"b\n", b"\n", b"c\r\n", b"-- \n", b"@@ -1 +1 @@\n", b"\xff\n"]), max_size=30)  # fmt: skip
ENDS = st.sampled_from([b"", b"end", b"\r"])


def shown_as(entry: Entry) -> bytes:
    """The content of an entry as diffs have it."""
    if entry.mode == "160000":
        return b"Subproject commit %s\n" % entry.content
    return entry.content


def test_every_sample_forth_and_back(tmp_path: Path) -> None:
    """Each change makes the one content from the other, both ways."""
    changes = parse_diff(new_repository(tmp_path).diff(BEFORE, AFTER, "-M")).changes
    assert len(changes) > 15
    for change in changes:
        old = None if change.old_path is None else shown_as(BEFORE[change.old_path])
        new = None if change.new_path is None else shown_as(AFTER[change.new_path])
        assert apply_change(change, old) == new
        assert unapply_change(change, new) == old


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One for all examples."""
    return tmp_path_factory.mktemp("texts")


@given(TEXTS, ENDS, TEXTS, ENDS, st.integers(0, 4))
@example([], b"", [b"a\n"], b"", 3)
@example([b"a\n"] * 9, b"end", [b"a\n"] * 9, b"", 0)
def test_texts_forth_and_back(
    folder: Path, old: list[bytes], old_end: bytes, new: list[bytes], new_end: bytes, context: int
) -> None:
    """For any two texts: what git says of them is read, and applying and unapplying are inverse."""
    one, other = b"".join(old) + old_end, b"".join(new) + new_end
    text = difference(folder, one, other, f"-U{context}")
    if one == other:
        assert text == b""
        return
    [change] = parse_diff(text).changes
    assert apply_change(change, one) == other
    assert unapply_change(change, other) == one


@given(st.binary(max_size=400), st.binary(max_size=400))
def test_binary_contents_forth_and_back(folder: Path, one: bytes, other: bytes) -> None:
    """The same for contents that are no text, as literals and as deltas."""
    one, other = b"\0" + NOISE + one, b"\0" + NOISE + other
    text = new_repository(folder).diff({b"f": Entry(one)}, {b"f": Entry(other)})
    if one == other:
        return
    [change] = parse_diff(text).changes
    assert apply_change(change, one) == other
    assert unapply_change(change, other) == one


def changed(text: str) -> FileChange:
    """The change in a plain diff of `x`."""
    [change] = parse_diff(f"--- a/x\n+++ b/x\n{text}".encode()).changes
    return change


CHANGE = changed("@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n")


def test_it_fits_in_its_place() -> None:
    """Lines before and behind stay."""
    assert apply_change(CHANGE, b"a\nb\nc\nd\ne\n") == b"a\nb\nC\nd\ne\n"
    assert unapply_change(CHANGE, b"a\nb\nC\nd\ne\n") == b"a\nb\nc\nd\ne\n"


@pytest.mark.parametrize(
    "base",
    [
        None,
        b"",
        b"b\nc\nd\n",
        b"a\na\nb\nc\nd\n",
        b"a\nb\nc\nD\n",
        b"a\nb\nc\n",
        b"a\nb\nc\nd",
        b"a\nb\r\nc\nd\n",
        b"a\nb \nc\nd\n",
    ],
)
def test_it_fits_nowhere_else(base: bytes | None) -> None:
    """No other line number, no other context, no other end."""
    with pytest.raises(DiffMismatch):
        apply_change(CHANGE, base)


def test_a_line_without_an_end_is_the_last() -> None:
    """A content in which it would not be is not made."""
    change = changed("@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n")
    assert apply_change(change, b"a\n") == b"b"
    with pytest.raises(DiffMismatch):
        apply_change(change, b"a\nmore\n")
    with pytest.raises(DiffMismatch):
        apply_change(changed("@@ -1,0 +2 @@\n+b\n"), b"a")


def test_what_is_there_or_not() -> None:
    """A new file must not be there, and one that goes must hold nothing else."""
    added = parse_diff(b"--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n").changes[0]
    gone = parse_diff(b"--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n").changes[0]
    assert apply_change(added, None) == b"a\n"
    assert unapply_change(added, b"a\n") is None
    assert apply_change(gone, b"a\n") is None
    assert unapply_change(gone, None) == b"a\n"
    for change, base in ((added, b""), (gone, None), (gone, b"a\nb\n"), (gone, b"b\n")):
        with pytest.raises(DiffMismatch):
            apply_change(change, base)
    with pytest.raises(DiffMismatch):
        unapply_change(added, b"a\nb\n")


def test_an_empty_file_is_empty(tmp_path: Path) -> None:
    """Its header fits no other."""
    tree: Tree = {b"f": Entry(b"")}
    [gone] = parse_diff(new_repository(tmp_path).diff({**tree, b"o": Entry(b"")}, {b"o": Entry(b"")})).changes  # fmt: skip
    assert apply_change(gone, b"") is None
    with pytest.raises(DiffMismatch):
        apply_change(gone, b"a\n")


def binary_diff(folder: Path, old: bytes, new: bytes) -> bytes:
    """A binary patch of one file."""
    return new_repository(folder).diff({b"f": Entry(old)}, {b"f": Entry(new)})


def test_a_binary_patch_fits_what_it_names(tmp_path: Path) -> None:
    """A literal could be put over anything; the ids of the contents say over what."""
    [change] = parse_diff(binary_diff(tmp_path, b"\0a", b"\0" + NOISE)).changes
    assert apply_change(change, b"\0a") == b"\0" + NOISE
    with pytest.raises(DiffMismatch, match="not the one that the diff names"):
        apply_change(change, b"\0b")
    with pytest.raises(DiffMismatch):
        unapply_change(change, b"\0" + NOISE + b"!")


def test_a_delta_fits_what_it_was_made_from(tmp_path: Path) -> None:
    """Another length is seen at once."""
    [change] = parse_diff(binary_diff(tmp_path, NOISE * 5, NOISE * 5 + b"!")).changes
    with pytest.raises(DiffMismatch, match="of another length"):
        apply_change(change, NOISE)


def test_binary_files_that_differ_cannot_be_applied(tmp_path: Path) -> None:
    """There is nothing to apply."""
    text = new_repository(tmp_path).diff({b"f": Entry(b"\0a")}, {b"f": Entry(b"\0b")}, contents="--patch")  # fmt: skip
    assert re.search(rb"Binary files", text)
    with pytest.raises(DiffMismatch, match="and not how"):
        apply_change(parse_diff(text).changes[0], b"\0a")
