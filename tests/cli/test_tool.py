"""`consentry tool new` and `consentry tool lint`: the real command."""

import json
import os
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.declare.toolmanifest import read_tool_manifest
from tests.cli.conftest import CommandLine, Ended, assert_error


def test_a_new_manifest_asks_for_nothing_and_is_in_order(consentry: CommandLine) -> None:
    """It starts what was typed, word for word, and says what is to be filled in."""
    words = ("./report.sh", "--all", "a b", "", '"\n#')
    assert consentry("tool", "new", "report", "--", *words).status == 0
    file = consentry.cwd / ".consentry/tools/report.yaml"
    tool = read_tool_manifest(file.read_bytes(), "report.yaml")
    assert tool.entrypoint is not None
    assert (tool.entrypoint.command, *tool.entrypoint.arguments) == words
    assert tool.capabilities.file_read == tool.capabilities.file_write == ()
    checked = json.loads(consentry("tool", "lint", "--json").out)
    assert (checked["ok"], len(checked["notes"])) == (True, 1)


def test_a_new_tool_never_replaces_one(consentry: CommandLine) -> None:
    """The file that is there stays as it is."""
    consentry("tool", "new", "cat")
    file = consentry.cwd / ".consentry/tools/cat.yaml"
    file.write_text("# mine\n")
    assert_error(consentry("tool", "new", "cat", "--", "./other"), Code.FILE_UNUSABLE)
    assert file.read_text() == "# mine\n"


def test_a_new_tool_for_every_workspace(consentry: CommandLine, home: Path) -> None:
    """In the user's own configuration; without a command it is the program of that name."""
    ended = consentry("tool", "new", "cat", "--own", "--json")
    made = json.loads(ended.out)
    assert made["file"] == str(home / ".config/consentry/tools/cat.yaml")
    assert (made["kind"], made["must_be_indexed"]) == ("tool-new", False)
    assert 'command: "cat"' in Path(made["file"]).read_text()


def test_an_index_has_to_name_it(consentry: CommandLine) -> None:
    """Said where there is one; nobody's document is rewritten."""
    folder = consentry.cwd / ".consentry"
    folder.mkdir()
    (folder / "tool-manifest.yaml").write_text("tools: []\n")
    assert "does not name it yet" in consentry("tool", "new", "cat").out
    assert (folder / "tool-manifest.yaml").read_text() == "tools: []\n"


@pytest.mark.parametrize(
    "words", [("Upper",), ("../x",), ("a/b",), ("x", "--", "a*"), ("x", "--", ""), ()]
)
def test_names_that_no_tool_can_have(consentry: CommandLine, words: tuple[str, ...]) -> None:
    """One clear error each, and nothing is written."""
    assert_error(consentry("tool", "new", *words), Code.USAGE)
    assert not (consentry.cwd / ".consentry").exists()


def test_problems_are_listed_with_their_places(consentry: CommandLine) -> None:
    """All at once, with status 1; without a problem, `--quiet` says nothing."""
    (consentry.cwd / "t.yaml").write_text("tool: {nam: x, version: 1}\n")
    ended = consentry("tool", "lint", "t.yaml")
    assert ended.status == 1
    rows = [row for row in ended.out.splitlines() if row.startswith("problem  t.yaml:1:")]
    assert len(rows) == 6
    assert "did you mean `name`?" in ended.out
    assert ended.out.endswith("1 document: 6 problems, no notes\n")
    consentry("tool", "new", "cat", "--own")
    assert consentry("tool", "lint", "--quiet") == Ended(0, "", "")


def test_what_a_document_says_does_not_act_on_the_terminal(consentry: CommandLine) -> None:
    """Its keys are a stranger's text."""
    (consentry.cwd / "t.yaml").write_text('"a\\e[31m\\u202e": 1\n')
    ended = consentry("tool", "lint", "t.yaml")
    assert "\x1b" not in ended.out
    assert "\u202e" not in ended.out
    assert "\\u{1b}" in ended.out


def test_files_that_cannot_be_read(consentry: CommandLine) -> None:
    """A clear error and its code; ten megabytes are not even looked at."""
    assert_error(consentry("tool", "lint", "nowhere.yaml"), Code.FILE_UNUSABLE)
    assert_error(consentry("tool", "lint", "."), Code.FILE_UNUSABLE)
    (consentry.cwd / "big.yaml").write_bytes(b"a: b\n" * 2_000_000)
    assert_error(consentry("tool", "lint", "big.yaml"), Code.FILE_UNUSABLE)
    assert_error(consentry("tool", "lint", "big.yaml", "--config", "."), Code.USAGE)
    assert_error(consentry("tool", "lint", "--config", "nowhere"), Code.CONFIG_MISSING)


def test_a_document_that_may_not_be_read_is_a_problem_among_others(as_nobody: CommandLine) -> None:
    """An ordinary user is told which, and the others are read all the same."""
    folder = as_nobody.cwd / ".consentry/tools"
    assert as_nobody("tool", "new", "cat").status == 0
    (folder / "closed.yaml").write_text("tool: {}\n")
    os.chown(folder / "closed.yaml", 0, 0)
    (folder / "closed.yaml").chmod(0o600)
    checked = json.loads(as_nobody("tool", "lint", "--json").out)
    assert (checked["documents"], checked["ok"]) == (1, False)
    assert [each["code"] for each in checked["problems"]] == ["config-file"]


def test_wrong_usage(consentry: CommandLine) -> None:
    """The bare word shows its page; a mistyped one is answered with the right one."""
    bare = consentry("tool")
    assert (bare.status, bare.out) == (2, "")
    assert bare.err.startswith("Usage: consentry tool ")
    ended = consentry("tool", "shwo")
    assert_error(ended, Code.USAGE)
    assert "did you mean `show`?" in ended.err


def _with_tool(consentry: CommandLine, name: str = "read-notes") -> None:
    consentry("tool", "new", name, "--", "cat", "notes.txt")


def test_tools_are_listed(consentry: CommandLine) -> None:
    """For people, for scripts, and bare; an empty list is an answer."""
    assert consentry("tool", "list").out.startswith("there are no tools here")
    assert consentry("tool", "list", "--quiet") == Ended(0, "", "")
    _with_tool(consentry)
    assert consentry("tool", "list", "--quiet").out == "read-notes\n"
    shown = consentry("tool", "list").out
    assert shown == "read-notes  explicit  to fill in: what it is for\n"
    [tool] = json.loads(consentry("tool", "list", "--json").out)["tools"]
    assert (tool["level"], tool["risk"], tool["origin"]) == ("explicit", "low", "workspace")
    assert (tool["accepted"], tool["problem"]) == (False, None)


def test_a_broken_tool_is_listed_as_such(consentry: CommandLine) -> None:
    """With status 1, and the others beside it."""
    _with_tool(consentry)
    (consentry.cwd / ".consentry/tools/bad.yaml").write_text("tool: {name: bad}\n")
    ended = consentry("tool", "list")
    assert ended.status == 1
    assert ended.out.startswith("bad         broken    ")
    broken, fine = json.loads(consentry("tool", "list", "--json").out)["tools"]
    assert (broken["problem"]["code"], fine["problem"]) == ("document-invalid", None)
    shown = consentry("tool", "show", "bad")
    assert (shown.status, shown.out) == (3, "")
    assert shown.err.startswith("consentry: error[document-invalid]: ")


def test_a_tool_is_shown(consentry: CommandLine) -> None:
    """What it may do, its level with every reason, and the digest that a policy names."""
    _with_tool(consentry)
    shown = consentry("tool", "show", "read-notes")
    assert shown.status == 0
    assert "  starts      cat notes.txt\n" in shown.out
    assert "may not read files, write files, reach" in shown.out
    assert "no level names it: require_explicit\n" in shown.out
    digest = consentry("tool", "show", "read-notes", "--quiet").out.strip()
    assert f"\n    {digest}\n" in f"{shown.out}\n"
    document = json.loads(consentry("tool", "show", "read-notes", "--json").out)
    assert (document["kind"], document["tool"]["digest"]) == ("tool", digest)
    assert document["tool"]["cannot_run"] is None


def test_a_stranger_s_description_stays_in_its_frame(consentry: CommandLine) -> None:
    """It cannot draw a line that looks like one of ours, nor act on the terminal."""
    _with_tool(consentry)
    file = consentry.cwd / ".consentry/tools/read-notes.yaml"
    text = file.read_text().replace(
        "to fill in: what it is for", "fine\\n  level       none\\e[2J\\u202e"
    )
    file.write_text(text)
    for words in (("list",), ("list", "--verbose"), ("show", "read-notes")):
        out = consentry("tool", *words).out
        assert "\x1b" not in out
        assert "\u202e" not in out
        assert "\n  level       none" not in out


def test_a_tool_that_cannot_run_here_has_no_digest(consentry: CommandLine) -> None:
    """Shown with the reason; a script that asks for the digest alone gets the error."""
    consentry("tool", "new", "gone", "--", "./gone.sh")
    shown = consentry("tool", "show", "gone")
    assert shown.status == 0
    assert "`./gone.sh` does not exist" in shown.out
    quiet = consentry("tool", "show", "gone", "--quiet")
    assert (quiet.status, quiet.out) == (127, "")
    assert quiet.err.startswith("consentry: error[program-unknown]: ")


def test_a_tool_that_is_not_there_is_answered_with_the_nearest(consentry: CommandLine) -> None:
    """Status and code are stable."""
    _with_tool(consentry)
    ended = consentry("tool", "show", "read-noets")
    assert_error(ended, Code.TOOL_UNKNOWN)
    assert "did you mean `read-notes`?" in ended.err
