"""GUARD §decide-incomplete: a diff that others read otherwise than we do is not judged.

Each diff hides a second change, or names one file and changes another; git would apply most of them.
"""

import pytest

from consentry.declare.patchbundle import Blob, bundle_from_parts
from consentry.examine.verdict import Status
from consentry.service.extracting import Extractor
from consentry.service.guarding import Terms, change_of_bundle, check_change

BASE = "x = 1\ny = 2\nz = 3\n"
HUNK = "@@ -1,3 +1,4 @@\n x = 1\n y = 2\n z = 3\n+w = 4\n"
HEAD = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n"
PLAIN = HEAD + HUNK
ADDED = "--- /dev/null\n+++ b/evil.py\n@@ -0,0 +1,2 @@\n+import os\n+os.system('id')\n"
ADDED_BY_GIT = f"diff --git a/evil.py b/evil.py\nnew file mode 100644\n{ADDED}"
AGAIN = HEAD + "@@ -1,4 +1,5 @@\n x = 1\n y = 2\n z = 3\n w = 4\n+exec(w)\n"
EVIL_HUNK = HUNK.replace("w = 4", "exec(w)")
RENAMED = "similarity index 100%\nrename from a.txt\nrename to a.py\n"

HIDDEN = {
    "a plain diff in front": ADDED + PLAIN,
    "a plain diff behind": PLAIN + ADDED,
    "a plain diff in the words of a mail": f"From x\nSubject: y\n\n{ADDED}\n{PLAIN}",
    "a diff that is indented": "  " + ADDED.replace("\n", "\n  ") + "\n" + PLAIN,
    "a plain diff behind the signature": f"{PLAIN}-- \n2.40\n\n{ADDED}",
    "a diff of git behind the signature": f"{PLAIN}-- \n2.40\n\n{ADDED_BY_GIT}",
    "a file that nobody says is touched": PLAIN + ADDED_BY_GIT,
    "the same file twice": PLAIN + AGAIN,
    "another name after than in the header": HEAD.replace("+++ b/a.py", "+++ b/e.py") + EVIL_HUNK,
    "other names than in the header": "diff --git a/a.txt b/a.txt\n--- a/a.py\n+++ b/a.py\n"
    + EVIL_HUNK,
    "a rename to another name": f"diff --git a/a.txt b/b.txt\n{RENAMED}",
    "names without a prefix": "--- a.py\n+++ a.py\n" + HUNK,
    "a hunk for another place": PLAIN.replace("-1,3 +1,4", "-5,3 +5,4"),
    "a hunk that counts too few lines": PLAIN.replace("-1,3 +1,4", "-1,3 +1,3"),
    "a line behind the hunk": PLAIN + "+exec(w)\n",
    "words between": PLAIN + "words\n+exec(w)\n",
    "a carriage return in a name": PLAIN.replace("+++ b/a.py\n", "+++ b/a.py\r\n"),
    "a combined diff": "diff --cc a.py\n--- a/a.py\n+++ b/a.py\n@@@ -1,3 -1,3 +1,4 @@@\n  x = 1\n++w = 4\n",
    "a file that comes without a mode": ADDED.join(["diff --git a/evil.py b/evil.py\n", ""]),
    "nothing": "",
    "words alone": "nothing to see here\n",
}


def status_of(diff: str, after: dict[str, Blob] | None = None) -> Status:
    """The answer to a bundle that says it touches `a.py` alone."""
    bundle = bundle_from_parts(
        diff=diff.encode(),
        touched_paths=["a.py"],
        base={name: Blob(BASE.encode(), "100644") for name in ("a.py", "a.txt")},
        after=after or {},
    )
    return check_change(change_of_bundle(bundle), Terms(), Extractor()).status


@pytest.mark.parametrize("diff", HIDDEN.values(), ids=HIDDEN)
def test_a_diff_with_something_hidden_is_not_judged(diff: str) -> None:
    """What does not fit together to the last line is UNKNOWN, never judged by the part that fits."""
    assert status_of(diff) is Status.UNKNOWN


def test_the_diff_and_the_blob_must_agree() -> None:
    """A harmless diff beside a blob with something else in it is not judged by either."""
    after = {"a.py": Blob(f"{BASE}exec(w)\n".encode(), "100644")}
    assert status_of(PLAIN, after) is Status.UNKNOWN


def test_the_plain_diff_passes() -> None:
    """The diff that the others are made from is in order, or they would prove nothing."""
    assert status_of(PLAIN) is Status.PASS


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n", ";"])
def test_code_behind_a_line_end_of_python(end: str) -> None:
    """A comment ends where Python says it does: a carriage return alone begins a new line."""
    start = "w = 4" if end == ";" else "#"
    line = f"{start}{end}".replace("\n", "\n+") + "__import__('os').system('id')"
    count = 4 + end.count("\n")
    assert status_of(PLAIN.replace("w = 4", line).replace("+1,4", f"+1,{count}")) is Status.BLOCKED
