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
    ended = consentry("tool", "lnit")
    assert_error(ended, Code.USAGE)
    assert "did you mean `lint`?" in ended.err
