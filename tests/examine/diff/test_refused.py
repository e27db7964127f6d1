"""What is no whole diff: cut, left over, not understood; each with its reason (GUARD T5)."""

import pytest

from consentry.examine.diff.parsing import parse_diff
from tests.examine.diff.refusals import refusal

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
