"""`consentry surface`: the real command shows what code can do, as text and for scripts."""

import json
import os
from pathlib import Path

import pytest

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, assert_error
from tests.service.codesamples import COUNTS, FETCHES, STARTS, write_sdist, write_tree, write_wheel


def test_a_folder_in_words_and_with_evidence(consentry: CommandLine) -> None:
    """The surface in a sentence, each power with its line, what is left out."""
    write_tree(
        consentry.cwd, {"app/fetch.py": FETCHES, "run.py": STARTS, "x.py": "import nowhere_x\n"}
    )
    ended = consentry("surface", ".")
    assert (ended.status, ended.err) == (0, "")
    assert "may connect to `feeds.example.org:443`; may start `git`" in ended.out.replace(
        "\n| ", " "
    )
    assert "NET_ACCESS: ALLOWLIST\n" in ended.out
    assert "  connect to `feeds.example.org:443`\n    app/fetch.py:5: requests.get()" in ended.out
    assert "cannot be told (1)\n  x.py:1: import nowhere_x: in no table" in ended.out
    assert "not read (1)\n  .git: version control" in ended.out


def test_the_document_for_scripts(consentry: CommandLine) -> None:
    """Two keys with surface and evidence, what is unclassified and what was not read."""
    write_tree(
        consentry.cwd,
        {"run.py": STARTS, "pyproject.toml": '[project]\nname="a"\ndependencies=["requests"]\n'},
    )
    ended = consentry("surface", ".", "--json")
    found = json.loads(ended.out)
    assert (ended.status, found["schema_version"], found["kind"]) == (0, 1, "surface")
    assert set(found) == {
        "schema_version",
        "kind",
        "surface",
        "evidence",
        "unclassified",
        "not_read",
    }
    assert found["surface"]["proc_exec"] == "ALLOWLIST"
    assert found["surface"]["allowlists"]["proc_exec"] == ["git"]
    started = [each for each in found["evidence"] if each["target"] == "git"]
    assert started == [
        {
            "dimension": "PROC_EXEC",
            "operation": "start",
            "target": "git",
            "file": "run.py",
            "line": 5,
            "reason": "subprocess.run()",
            "provenance": "code",
        }
    ]
    declared = {each["file"] for each in found["evidence"] if each["provenance"] == "declared"}
    assert declared == {"pyproject.toml"}
    assert (found["unclassified"], found["not_read"]) == (
        [],
        [{"path": ".git", "why": "version control"}],
    )


def test_the_word_show_may_be_left_out(consentry: CommandLine) -> None:
    """Options stand wherever they like; a file called `diff` has a path."""
    write_tree(consentry.cwd, {"diff": "#!/usr/bin/python3\n" + STARTS, "show": COUNTS})
    whole = consentry("surface", "show", "./diff", "--json").out
    assert consentry("surface", "./diff", "--json").out == whole
    assert consentry("surface", "--json", "./diff").out == whole
    assert consentry("--json", "surface", "./diff").out == whole
    assert consentry("surface", "--color", "never", "--all", "./diff", "--json").out == whole
    assert "start `git`" in consentry("surface", "./diff").out
    assert_error(consentry("surface", "diff"), Code.USAGE)


def test_a_bare_answer(consentry: CommandLine) -> None:
    """With `--quiet` it is the sentence alone."""
    write_tree(consentry.cwd, {"a.py": STARTS})
    assert consentry("surface", "a.py", "-q").out == (
        "may start `git`; may use tools of the kinds `python` and `shell`; "
        "may not read files, write files, reach the network or see environment variables\n"
    )


def test_long_lists_are_cut_and_counted(consentry: CommandLine) -> None:
    """A page for a person; `--all` has everything."""
    write_tree(consentry.cwd, {f"m{n}.py": "open('data/0.txt')\n" for n in range(6)})
    calls = "".join(f"open('data/{n}.txt')\n" for n in range(1, 20))
    write_tree(consentry.cwd, {"a.py": calls})
    short = consentry("surface", ".").out
    assert "    and 3 more places: --all lists them" in short
    assert "  and 12 more powers: --all lists them" in short
    whole = consentry("surface", ".", "--all").out
    assert "more" not in whole
    assert "a.py:19: open()" in whole


def test_archives_and_distributions(consentry: CommandLine, tmp_path: Path) -> None:
    """A wheel, an sdist, and what is installed beside the command."""
    wheel = write_wheel(tmp_path, "1.0", {"app.py": STARTS})
    sdist = write_sdist(tmp_path, "1.0", {"app.py": STARTS})
    for each in (wheel, sdist):
        assert "app.py:5: subprocess.run()" in consentry("surface", str(each)).out
    found = json.loads(consentry("surface", "click", "--json").out)
    assert {"click/core.py"} <= {each["file"] for each in found["evidence"]}
    assert found["not_read"] == [] or {each["why"] for each in found["not_read"]} <= {
        "compiled from source",
        "listed and not there",
    }


def test_another_environment(consentry: CommandLine, tmp_path: Path) -> None:
    """`--site` names a folder of installed distributions; this interpreter's own do not count then."""
    site = write_tree(
        tmp_path / "site",
        {
            "app.py": STARTS,
            "app-1.0.dist-info/METADATA": "Name: app\nVersion: 1.0\n",
            "app-1.0.dist-info/RECORD": "app.py,,\napp-1.0.dist-info/METADATA,,\n",
        },
    )
    assert "start `git`" in consentry("surface", "app", "--site", str(site)).out
    assert_error(consentry("surface", "click", "--site", str(site)), Code.FILE_UNUSABLE)
    assert_error(consentry("surface", "app", "--site", "nowhere"), Code.FILE_UNUSABLE)


def test_what_cannot_be_read(consentry: CommandLine, tmp_path: Path) -> None:
    """One clear error, exit status 2, and the same as a document."""
    assert_error(consentry("surface", "nowhere"), Code.FILE_UNUSABLE)
    assert_error(consentry("surface", "nowhere/at/all.py"), Code.FILE_UNUSABLE)
    (tmp_path / "a.whl").write_bytes(b"no archive")
    assert_error(consentry("surface", str(tmp_path / "a.whl")), Code.FILE_UNUSABLE)
    failed = consentry("surface", "nowhere", "--json")
    assert (failed.status, json.loads(failed.out)["error"]["code"]) == (2, "file-unusable")
    missing = consentry("surface")
    assert (missing.status, "no code was named" in missing.err) == (2, True)


def test_files_that_may_not_be_read(as_nobody: CommandLine) -> None:
    """An ordinary user is told what is not known; a file alone that cannot be read is an error."""
    write_tree(as_nobody.cwd, {"a.py": STARTS, "closed.py": STARTS, "inner/b.py": STARTS})
    (as_nobody.cwd / "closed.py").chmod(0)
    (as_nobody.cwd / "inner").chmod(0)
    ended = as_nobody("surface", ".")
    assert ended.status == 0
    assert "closed.py:1: cannot be read: permission denied" in ended.out
    assert "inner:1: cannot be read: permission denied" in ended.out
    assert_error(as_nobody("surface", "closed.py"), Code.FILE_UNUSABLE)
    assert_error(as_nobody("surface", "inner"), Code.FILE_UNUSABLE)
    (as_nobody.cwd / "inner").chmod(0o755)


def test_names_that_would_act_on_the_terminal(consentry: CommandLine) -> None:
    """Names of files and targets are a stranger's text; bytes that are no text are shown as such."""
    write_tree(consentry.cwd, {"a\x1b[31m\n.py": "open('x\\x1b]0;y')\n" + STARTS})
    name = os.fsencode(consentry.cwd) + b"/caf\xe9.py"
    Path(os.fsdecode(name)).write_text(STARTS)
    ended = consentry("surface", ".", "--all")
    assert "\x1b" not in ended.out
    assert "a\\u{1b}[31m\\u{a}.py:1: open()" in ended.out
    assert "caf\\x{e9}.py:5: subprocess.run()" in ended.out
    assert json.loads(consentry("surface", ".", "--json").out)["kind"] == "surface"
    assert consentry("surface", name).status == 0


@pytest.mark.parametrize("what", ["loop", "empty"])
def test_folders_without_code(what: str, consentry: CommandLine) -> None:
    """A loop of links, or nothing at all: an answer."""
    folder = consentry.cwd / what
    folder.mkdir()
    if what == "loop":
        (folder / "again").symlink_to(".")
        (folder / "self").symlink_to("self")
    ended = consentry("surface", what)
    assert ended.status == 0
    assert "may not read files" in ended.out
    assert ("self:1: is a link to `self`" in ended.out) == (what == "loop")


def test_what_was_read_before_is_kept_in_the_state(consentry: CommandLine, home: Path) -> None:
    """GUARD §deterministic: the second answer is the same, and comes from what was kept."""
    write_tree(consentry.cwd, {f"m{n}.py": f"N = {n}\n" + STARTS + COUNTS * 40 for n in range(60)})
    first = consentry("surface", ".", "--json").out
    kept = home / ".local/state/consentry/extractions"
    sizes = {path.name: path.stat().st_size for path in kept.iterdir()}
    assert sum(sizes.values()) > 1000
    assert consentry("surface", ".", "--json").out == first
    assert {path.name: path.stat().st_size for path in kept.iterdir()} == sizes
