"""Diffs as git writes them: every construct by name, and what is refused (GUARD §in-patch)."""

from pathlib import Path

import pytest

from consentry.examine.diff.changes import (
    ChangeKind,
    DiffIncomplete,
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
from tests.examine.diff.samples import AFTER, BEFORE, LINES, NOISE


def diffed(folder: Path, before: Tree, after: Tree, *options: str) -> ParsedDiff:
    """What git says, read."""
    return parse_diff(new_repository(folder).diff(before, after, *options))


def one(folder: Path, before: Entry | None, after: Entry | None, *options: str) -> FileChange:
    """What git says of one file `f`."""
    trees = [{b"other": Entry(b"o")} | ({} if each is None else {b"f": each}) for each in (before, after)]  # fmt: skip
    [change] = diffed(folder, trees[0], trees[1], *options).changes
    return change


def refusal(text: str | bytes) -> tuple[str, int]:
    """Why a diff is not taken, and where."""
    with pytest.raises(DiffIncomplete) as caught:
        parse_diff(text.encode() if isinstance(text, str) else text)
    return caught.value.reason, caught.value.line


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


GIT = "diff --git a/x b/x\nindex 1111111..2222222 100644\n--- a/x\n+++ b/x\n"
HUNK = "@@ -1 +1 @@\n-a\n+b\n"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "the diff is empty"),
        ("\n", "neither a diff nor the head of a mail begins here"),
        ("hello\n", "neither a diff nor the head of a mail begins here"),
        ("Subject: x\n", "the diff ends where a file must follow"),
        ("Subject: x\n@@ -1 +1 @@\n" + GIT + HUNK, "a part of a diff stands before the first file"),
        ("diff --cc x\nindex 1,2..3\n", "neither a diff nor the head of a mail begins here"),
        ("commit " + "1" * 40 + "\n\ndiff --cc x\n", "a part of a diff stands before the first file"),
        (GIT + "@@@ -1 -1 +1 @@@\n- a\n -b\n++c\n", "a hunk `@@ -… +… @@` is expected"),
        ("diff --git x x\nindex 1111111..2222222 100644\n--- x\n+++ x\n" + HUNK, "a name does not begin with `a/`"),
        ("diff --git b/x a/x\n", "a name does not begin with `a/`"),
        ("diff --git a/x b/y\n", "the two names of a file are not the same"),
        ("diff --git a/../x b/../x\n", "a name is empty, absolute, or has `.` or `..` in it"),
        ("diff --git a//x b//x\n", "a name is empty, absolute, or has `.` or `..` in it"),
        ('diff --git "a/x\\q" "b/x\\q"\n', "a quoted name has no end, or an escape that is none"),
        ('diff --git "a/x "b/x"\n', "the two names of a file are not the same"),
        ("diff --git a/x\\ b/x\\\n", "a name has a character that would be quoted"),
        ("diff --git a/x b/x\n", "the content of a file is missing"),
        ("diff --git a/x b/x\nold mode 100644\n", "the lines of a header do not go together, or some are missing"),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100644\n", "a change of mode is none, or makes another kind of file"),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 120000\n", "a change of mode is none, or makes another kind of file"),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100777\n", "a mode is not one that git has for files"),
        ("diff --git a/x b/x\nold mode 100644\nold mode 100644\n", "`old mode` is there twice"),
        ("diff --git a/x b/x\nnew file mode 100644\n", "the content of a file is missing"),
        ("diff --git a/x b/x\nnew file mode 100644\nindex 0000000..1234567\n", "the content of a file is missing"),
        ("diff --git a/x b/x\nindex 1234567..89abcde 100644\n", "the content of a file is missing"),
        ("diff --git a/x b/x\nindex 1234567..1234567 100644\n", "an `index` line has two ids that cannot be"),
        ("diff --git a/x b/x\nindex 0000000..1234567 100644\n", "an `index` line says otherwise than its header whether there is a file"),
        ("diff --git a/x b/x\nindex xyz..abc\n", "an `index` line is not understood"),
        ("diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n", "the content of a file is missing"),
        ("diff --git a/x b/y\nsimilarity index 101%\nrename from x\nrename to y\n", "a percentage is not understood"),
        ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\n", "the lines of a header do not go together, or some are missing"),
        ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to z\n", "a header names other files than its first line"),
        ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\ncopy to y\n", "the lines of a header do not go together, or some are missing"),
        (GIT, "the diff ends where a hunk must follow"),
        (GIT.replace("+++ b/x", "+++ b/y"), "a file has another name here than in its header"),
        (GIT.replace("--- a/x", "--- /dev/null"), "a file has another name here than in its header"),
        (GIT.replace("+++ b/x\n", ""), "the diff ends where the name of a file must follow"),
        (GIT + "@@ -1 +1 @@\n-a\n", "the diff ends where the rest of a hunk must follow"),
        (GIT + "@@ -1 +1 @@\n-a\n+b", "the last line has no end"),
        (GIT + "@@ -1 +1 @@\n-a\n-b\n", "a line does not belong into its hunk"),
        (GIT + "@@ -1 +1 @@\n-a\n+b\n+c\n", "a file `diff --git a/… b/…` is expected"),
        (GIT + HUNK + "\n", "a file `diff --git a/… b/…` is expected"),
        (GIT + HUNK + "--- a/y\n+++ b/y\n" + HUNK, "a file `diff --git a/… b/…` is expected"),
        (GIT + "@@ -1 +1 @@\n a\n", "a hunk changes nothing"),
        (GIT + "@@ -0,0 +0,0 @@\n", "a hunk changes nothing"),
        (GIT + "@@ -01 +1 @@\n-a\n+b\n", "a hunk `@@ -… +… @@` is expected"),
        (GIT + "@@ -1 +2 @@\n-a\n+b\n", "the numbers of a hunk do not follow from those before it"),
        (GIT + "@@ -0 +1 @@\n-a\n+b\n", "the numbers of a hunk do not follow from those before it"),
        (GIT + HUNK + HUNK, "the numbers of a hunk do not follow from those before it"),
        (GIT + HUNK + "@@ -2 +2 @@\n-a\n+b\n", "the numbers of a hunk do not follow from those before it"),
        (GIT + HUNK + "@@ -9 +8 @@\n-a\n+b\n", "the numbers of a hunk do not follow from those before it"),
        (GIT + "@@ -1 +1 @@\n\\ No newline at end of file\n-a\n+b\n", "a line does not belong into its hunk"),
        (GIT + "@@ -1,2 +1 @@\n-a\n\\ No newline at end of file\n-b\n+b\n", "a line does not belong into its hunk"),
        (GIT + "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n\\ No newline at end of file\n+b\n", "a line does not belong into its hunk"),
        (GIT + "@@ -1 +1 @@\n-a\n+b\n\\ No newline\n", "a remark is not understood"),
        (GIT + "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n@@ -5 +5 @@\n-a\n+b\n", "a line does not belong into its hunk"),
        (GIT + HUNK + GIT + HUNK, "a file is there twice"),
        (GIT + HUNK + "-- \n", "the diff ends where a version must follow"),
        (GIT + HUNK + "-- \nhello\n", "the end of a mail is not understood"),
        (GIT + HUNK + "-- \n2.39.5\n\nmore\n", "something follows the end of the diff"),
        ("--- x\n+++ x\n" + HUNK, "a name does not begin with `a/`"),
        ("--- a/x\n+++ b/y\n" + HUNK, "a file has two names, and nothing says which becomes of which"),
        ("--- /dev/null\n+++ /dev/null\n" + HUNK, "a file has no name"),
        ("--- a/x\t1970-01-01 00:00:00 +0000\n+++ b/x\n" + HUNK, "the name of a file is expected, with no date or a real one"),
        ("--- /dev/null\n+++ b/x\n" + HUNK, "a new file has old lines"),
        ("--- a/x\n+++ /dev/null\n" + HUNK, "a file that goes has new lines"),
        ("--- a/x\n", "the diff ends where the name of a file must follow"),
        ("--- a/x\n+++ b/x\n", "the diff ends where a hunk must follow"),
        ("--- a/x\n+++ b/x\n" + HUNK + "Only in b: y\n", "a file `--- a/…` is expected"),
    ],
)  # fmt: skip
def test_what_is_refused(text: str, reason: str) -> None:
    """GUARD T5: whatever is cut, left over or not understood, with its reason."""
    assert refusal(text)[0] == reason


def test_a_refusal_names_its_line() -> None:
    """Counted from 1."""
    assert refusal(GIT + "@@ -1 +1 @@\n-a\n-b\n")[1] == 7


def test_a_file_that_goes_and_comes_as_the_same_sort_is_there_twice() -> None:
    """Only one that becomes another sort of file does that."""
    gone = "diff --git a/x b/x\ndeleted file mode {}\nindex 1234567..0000000\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n"
    come = "diff --git a/x b/x\nnew file mode {}\nindex 0000000..1234567\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n"
    twice = "a file is there twice"
    assert refusal(gone.format(100644) + come.format(100755))[0] == twice
    assert refusal(come.format(120000) + gone.format(100644))[0] == twice
    assert len(parse_diff((gone.format(100644) + come.format(120000)).encode()).changes) == 2


def test_every_sample_is_read(tmp_path: Path) -> None:
    """All constructs at once; each touched file is there."""
    found = diffed(tmp_path, BEFORE, AFTER, "-M")
    touched = {each for change in found.changes for each in (change.old_path, change.new_path) if each}  # fmt: skip
    assert touched == (BEFORE.keys() | AFTER.keys()) - {b"untouched"}
    assert {each.kind for each in found.changes} == set(ChangeKind) - {ChangeKind.COPIED}
