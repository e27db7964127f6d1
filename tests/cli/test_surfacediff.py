"""`consentry surface diff`: two versions of code, compared by what they can do."""

import json
from pathlib import Path

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, assert_error
from tests.service.codesamples import COUNTS, FETCHES, STARTS, write_sdist, write_tree, write_wheel

MOVED = (
    STARTS.replace("start", "begin")
    .replace("import subprocess", "import subprocess as sp")
    .replace("subprocess.run", "sp.run")
)


def test_a_refactoring_gains_nothing(consentry: CommandLine, tmp_path: Path) -> None:
    """Moved, renamed and written in another way: exit status 0, whatever the form of the archive."""
    before = write_wheel(tmp_path, "1.0", {"app/a.py": STARTS})
    after = write_sdist(tmp_path, "1.1", {"src/app/inner/b.py": MOVED, "README.md": "words"})
    ended = consentry("surface", "diff", str(before), str(after))
    assert (ended.status, ended.err) == (0, "")
    assert ended.out.startswith("gained nothing: ")


def test_what_was_gained_and_lost(consentry: CommandLine, tmp_path: Path) -> None:
    """Each with its place; exit status 1 for what was gained alone."""
    before = write_wheel(tmp_path, "1.0", {"app/a.py": STARTS})
    after = write_wheel(tmp_path, "1.1", {"app/a.py": FETCHES, "app/b.py": "import nowhere_y\n"})
    ended = consentry("surface", "diff", str(before), str(after))
    assert ended.status == 1
    assert "  connect to `feeds.example.org:443`\n    app/a.py:5: requests.get()" in ended.out
    assert "lost (3)\n" in ended.out
    assert "new, and cannot be told (1)\n  app/b.py:1: import nowhere_y" in ended.out
    turned = consentry("surface", "diff", str(after), str(before), "-q")
    assert turned.status == 1
    assert turned.out.count("\n") >= 1


def test_only_lost(consentry: CommandLine) -> None:
    """GUARD §vector-2: a power that is removed is none that was gained."""
    write_tree(consentry.cwd, {"old/a.py": STARTS + FETCHES, "new/a.py": STARTS})
    ended = consentry("surface", "diff", "old", "new")
    assert ended.status == 0
    assert ended.out.startswith("gained nothing, lost ")


def test_what_is_new_and_cannot_be_told(consentry: CommandLine) -> None:
    """Exit status 2; the same doubt in both is not new."""
    write_tree(
        consentry.cwd,
        {
            "one/a.py": "import nowhere_a\n",
            "two/moved.py": "import nowhere_a\n",
            "three/a.py": "import nowhere_a\nimport nowhere_b\n",
        },
    )
    assert consentry("surface", "diff", "one", "two").status == 0
    ended = consentry("surface", "diff", "one", "three")
    assert ended.status == 2
    assert "three" in ended.out
    assert "a.py:2: import nowhere_b" in ended.out


def test_the_document_for_scripts(consentry: CommandLine) -> None:
    """Both surfaces, and every step with its target."""
    write_tree(consentry.cwd, {"old.py": COUNTS, "new.py": STARTS})
    ended = consentry("surface", "diff", "old.py", "new.py", "--json")
    found = json.loads(ended.out)
    assert (ended.status, found["kind"]) == (1, "surface-diff")
    assert (found["before"]["proc_exec"], found["after"]["proc_exec"]) == ("NONE", "ALLOWLIST")
    steps = {(each["dimension"], each["target"]): each for each in found["gained"]}
    assert steps["PROC_EXEC", "git"] == {
        "dimension": "PROC_EXEC",
        "before": "NONE",
        "after": "ALLOWLIST",
        "reason": "subprocess.run(): git",
        "file": "new.py",
        "line": 5,
        "operation": "start",
        "target": "git",
    }
    assert (found["lost"], found["unclassified"]) == ([], [])
    assert found["not_read"] == {"before": [], "after": []}


def test_installed_against_a_folder(consentry: CommandLine) -> None:
    """The two need not be of the same form."""
    write_tree(consentry.cwd, {"click-next/click/__init__.py": COUNTS})
    ended = consentry("surface", "diff", "click", "./click-next")
    assert ended.status == 0
    assert "lost" in ended.out


def test_wrong_usage(consentry: CommandLine) -> None:
    """Two are compared, and both must be there."""
    write_tree(consentry.cwd, {"a.py": COUNTS})
    assert_error(consentry("surface", "diff", "a.py"), Code.USAGE)
    assert_error(consentry("surface", "diff", "a.py", "nowhere.py"), Code.FILE_UNUSABLE)
    assert_error(consentry("surface", "diff", "a.py", "a.py", "a.py"), Code.USAGE)
