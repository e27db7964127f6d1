"""Diffs as git writes them: every construct by name, and what is refused (GUARD §in-patch)."""

from pathlib import Path

import pytest

from consentry.examine.diff.changes import (
    ChangeKind,
    FileChange,
    Hunk,
    Packing,
    ParsedDiff,
)
from consentry.examine.diff.parsing import parse_diff
from tests.examine.diff.gitdiffs import (
    SUBMODULE_ONE,
    SUBMODULE_TWO,
    WITHOUT_BINARY,
    Entry,
    Tree,
    new_repository,
)
from tests.examine.diff.refusals import refusal
from tests.examine.diff.samples import AFTER, BEFORE, LINES, NOISE


def diffed(folder: Path, before: Tree, after: Tree, *options: str) -> ParsedDiff:
    """What git says, read."""
    return parse_diff(new_repository(folder).diff(before, after, *options))


def one(folder: Path, before: Entry | None, after: Entry | None, *options: str) -> FileChange:
    """What git says of one file `f`."""
    trees = [{b"other": Entry(b"o")} | ({} if each is None else {b"f": each}) for each in (before, after)]  # fmt: skip
    [change] = diffed(folder, trees[0], trees[1], *options).changes
    return change


def test_a_modified_file(tmp_path: Path) -> None:
    """Names without prefixes, modes, ids, and lines with their ends."""
    change = one(tmp_path, Entry(b"a\nb\n"), Entry(b"a\nc\n"))
    assert (change.old_path, change.new_path, change.kind) == (b"f", b"f", ChangeKind.MODIFIED)
    assert (change.old_mode, change.new_mode) == ("100644", "100644")
    assert change.hunks == (Hunk(1, (b"a\n", b"b\n"), 1, (b"a\n", b"c\n")),)
    assert change.old_oid == "422c2b7"
    assert not change.is_binary


def test_an_added_file(tmp_path: Path) -> None:
    """It has no old name, mode or id."""
    change = one(tmp_path, None, Entry(b"a\n", "100755"))
    assert (change.old_path, change.new_path, change.kind) == (None, b"f", ChangeKind.ADDED)
    assert (change.old_mode, change.new_mode, change.old_oid) == (None, "100755", None)
    assert change.hunks == (Hunk(0, (), 1, (b"a\n",)),)


def test_a_deleted_file(tmp_path: Path) -> None:
    """It has no new name, mode or id."""
    change = one(tmp_path, Entry(b"a\n"), None)
    assert (change.old_path, change.new_path, change.kind) == (b"f", None, ChangeKind.DELETED)
    assert (change.old_mode, change.new_mode, change.new_oid) == ("100644", None, None)
    assert change.hunks == (Hunk(1, (b"a\n",), 0, ()),)


@pytest.mark.parametrize(
    ("before", "after", "kind"),
    [(None, Entry(b""), ChangeKind.ADDED), (Entry(b""), None, ChangeKind.DELETED)],
)
def test_an_empty_file_has_no_hunks(
    tmp_path: Path, before: Entry | None, after: Entry | None, kind: ChangeKind
) -> None:
    """Its id says that it is empty and not cut."""
    change = one(tmp_path, before, after)
    assert (change.kind, change.hunks) == (kind, ())


def test_a_rename_without_a_change(tmp_path: Path) -> None:
    """`similarity index 100%`, and nothing else."""
    [change] = diffed(tmp_path, {b"a x": Entry(LINES)}, {b"b/y": Entry(LINES)}, "-M").changes
    assert (change.old_path, change.new_path, change.kind) == (b"a x", b"b/y", ChangeKind.RENAMED)
    assert (change.similarity, change.is_bare) == (100, True)


def test_a_rename_with_a_change(tmp_path: Path) -> None:
    """Both names, and the lines."""
    after = {b"b": Entry(LINES + b"more\n", "100755")}
    [change] = diffed(tmp_path, {b"a": Entry(LINES)}, after, "-M").changes
    assert (change.old_path, change.new_path, change.kind) == (b"a", b"b", ChangeKind.RENAMED)
    assert (change.old_mode, change.new_mode) == ("100644", "100755")
    assert len(change.hunks) == 1


def test_a_copy(tmp_path: Path) -> None:
    """The source is named, and may be changed beside it."""
    before = {b"a": Entry(LINES)}
    after = {b"a": Entry(LINES + b"more\n"), b"b": Entry(LINES)}
    first, second = diffed(tmp_path, before, after, "-C").changes
    assert (first.kind, second.kind) == (ChangeKind.MODIFIED, ChangeKind.COPIED)
    assert (second.old_path, second.new_path) == (b"a", b"b")


def test_two_files_that_change_places(tmp_path: Path) -> None:
    """Each name goes once and comes once."""
    noise = LINES[::-1] + b"\n"
    before = {b"a": Entry(LINES), b"b": Entry(noise)}
    after = {b"a": Entry(noise), b"b": Entry(LINES)}
    changes = diffed(tmp_path, before, after, "-B", "-M").changes
    assert [(each.old_path, each.new_path) for each in changes] == [(b"b", b"a"), (b"a", b"b")]


def test_a_file_that_was_rewritten(tmp_path: Path) -> None:
    """`dissimilarity index` says nothing that the lines do not."""
    change = one(tmp_path, Entry(LINES), Entry(b"x\n" * 60), "-B")
    assert (change.kind, change.similarity) == (ChangeKind.MODIFIED, None)


def test_another_mode(tmp_path: Path) -> None:
    """`chmod +x` stands only in the header."""
    change = one(tmp_path, Entry(b"a\n"), Entry(b"a\n", "100755"))
    assert (change.kind, change.old_mode, change.new_mode) == (ChangeKind.MODE, "100644", "100755")
    assert change.is_bare


def test_another_mode_and_content(tmp_path: Path) -> None:
    """It is modified, with two modes."""
    change = one(tmp_path, Entry(b"a\n"), Entry(b"b\n", "100755"))
    assert (change.kind, change.new_mode) == (ChangeKind.MODIFIED, "100755")


def test_a_link(tmp_path: Path) -> None:
    """Its content is its target, without a newline."""
    change = one(tmp_path, Entry(b"x", "120000"), Entry(b"/etc/passwd", "120000"))
    assert (change.old_mode, change.new_mode) == ("120000", "120000")
    assert change.hunks == (Hunk(1, (b"x",), 1, (b"/etc/passwd",)),)


def test_a_file_that_becomes_a_link(tmp_path: Path) -> None:
    """It goes and comes, under one name."""
    before, after = {b"f": Entry(b"a\n")}, {b"f": Entry(b"x", "120000")}
    gone, come = diffed(tmp_path, before, after).changes
    assert (gone.kind, gone.old_path, come.kind, come.new_path) == (
        ChangeKind.DELETED,
        b"f",
        ChangeKind.ADDED,
        b"f",
    )


def test_a_submodule(tmp_path: Path) -> None:
    """Its content is one line that names a commit."""
    one_, two = (Entry(each.encode(), "160000") for each in (SUBMODULE_ONE, SUBMODULE_TWO))
    change = one(tmp_path, one_, two)
    assert change.old_mode == "160000"
    assert change.hunks[0].new == (b"Subproject commit %s\n" % SUBMODULE_TWO.encode(),)


def test_a_binary_patch(tmp_path: Path) -> None:
    """Both ways, unpacked."""
    change = one(tmp_path, Entry(b"\0" * 9), Entry(NOISE))
    assert change.is_binary
    assert change.binary is not None
    assert (change.binary.forward.packing, change.binary.forward.content) == (
        Packing.LITERAL,
        NOISE,
    )
    assert change.binary.backward.content == b"\0" * 9


def test_a_binary_patch_as_a_delta(tmp_path: Path) -> None:
    """Git writes steps where they are shorter."""
    change = one(tmp_path, Entry(NOISE * 5), Entry(NOISE * 5 + b"!"))
    assert change.binary is not None
    assert change.binary.forward.packing is Packing.DELTA


def test_binary_files_that_differ(tmp_path: Path) -> None:
    """The diff says so, and not how."""
    trees = ({b"f": Entry(b"\0a")}, {b"f": Entry(b"\0b")})
    text = new_repository(tmp_path).diff(*trees, contents=WITHOUT_BINARY)
    [change] = parse_diff(text).changes
    assert (change.is_binary, change.binary, change.hunks) == (True, None, ())


@pytest.mark.parametrize(
    "name",
    [
        "ümläut.py".encode(),
        b'tab\t quote" back\\slash\n.py',
        b"\xff\xfe",
        b"a b/c d.py",
        b" and b",
        b"x b/x",
        b"a/b",
        b"\x01\x1f\x7f",
        b"-- ",
        b"--- a",
    ],
)
@pytest.mark.parametrize("quoting", ["true", "false"])
def test_names(tmp_path: Path, name: bytes, quoting: str) -> None:
    """C quotes, spaces, bytes that are not UTF-8: in each place where a name stands."""
    repository = new_repository(tmp_path)
    repository.git("config", "core.quotePath", quoting)
    before = {name: Entry(LINES), name + b"2": Entry(b"\0a"), name + b"3": Entry(b"")}
    after = {name + b"1": Entry(LINES + b"x\n"), name + b"2": Entry(b"\0b")}
    changes = parse_diff(repository.diff(before, after, "-M", contents=WITHOUT_BINARY)).changes
    assert {(each.old_path, each.new_path) for each in changes} == {
        (name, name + b"1"),
        (name + b"2", name + b"2"),
        (name + b"3", None),
    }


def test_carriage_returns_are_content(tmp_path: Path) -> None:
    """A line of a file may end in one; a line of a header may not."""
    change = one(tmp_path, Entry(b"a\r\nb\r\n"), Entry(b"a\r\nc\r\n"))
    assert change.hunks[0].new == (b"a\r\n", b"c\r\n")
    whole = new_repository(tmp_path).diff({b"f": Entry(b"a\n")}, {b"f": Entry(b"b\n")})
    assert refusal(whole.replace(b"\n", b"\r\n"))[0] == "the two names of a file are not the same"


def test_no_newline_at_the_end(tmp_path: Path) -> None:
    """On either side, on both, and in the context."""
    assert one(tmp_path, Entry(b"a"), Entry(b"a\n")).hunks == (Hunk(1, (b"a",), 1, (b"a\n",)),)
    assert one(tmp_path, Entry(b"a\n"), Entry(b"a")).hunks == (Hunk(1, (b"a\n",), 1, (b"a",)),)
    both = one(tmp_path, Entry(b"a\nb"), Entry(b"c\nb"))
    assert both.hunks == (Hunk(1, (b"a\n", b"b"), 1, (b"c\n", b"b")),)


def test_a_commit_mail(tmp_path: Path) -> None:
    """The head before the first file and the signature behind the last belong to it."""
    repository = new_repository(tmp_path)
    text = repository.mail(BEFORE, AFTER)
    assert text.startswith(b"From ")
    assert b"\n-- \n" in text
    found = parse_diff(text)
    assert found.is_signed
    assert found.changes == parse_diff(repository.diff(BEFORE, AFTER, "-M")).changes
    assert refusal(text + text)[0] == "something follows the end of the diff"
    assert (
        refusal(text.replace(b"\n-- \n", b"\n--\n"))[0] == "a file `diff --git a/… b/…` is expected"
    )


def test_what_git_shows(tmp_path: Path) -> None:
    """The message is indented, so nothing in it is taken for a file."""
    found = parse_diff(new_repository(tmp_path).shown({b"f": Entry(b"a\n")}, {b"f": Entry(b"b\n")}))
    assert [each.new_path for each in found.changes] == [b"f"]


def test_a_plain_diff() -> None:
    """Without git: names with prefixes, and dates behind a tab."""
    found = parse_diff(
        b"--- a/x y.py\t2024-01-01 10:00:00.000000000 +0000\n+++ b/x y.py\t2024-01-02 10:00:00 +0000\n"
        b"@@ -1 +1 @@\n-a\n+b\n--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+a\n"
    )
    assert [(each.old_path, each.new_path, each.kind) for each in found.changes] == [
        (b"x y.py", b"x y.py", ChangeKind.MODIFIED),
        (None, b"new", ChangeKind.ADDED),
    ]


def test_an_empty_line_of_context() -> None:
    """Some writers leave its blank out."""
    text = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n\n-a\n+b\n"
    assert parse_diff(text.encode()).changes[0].hunks[0].old == (b"\n", b"a\n")


def test_every_sample_is_read(tmp_path: Path) -> None:
    """All constructs at once; each touched file is there."""
    found = diffed(tmp_path, BEFORE, AFTER, "-M")
    touched = {each for change in found.changes for each in (change.old_path, change.new_path) if each}  # fmt: skip
    assert touched == (BEFORE.keys() | AFTER.keys()) - {b"untouched"}
    assert {each.kind for each in found.changes} == set(ChangeKind) - {ChangeKind.COPIED}
