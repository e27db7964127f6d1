"""Bad input: a clear message, the documented status, never a traceback."""

import json
from pathlib import Path

import pytest

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, assert_error

# The command line


@pytest.mark.parametrize(
    ("words", "message", "help_line"),
    [
        (["statsu"], "`statsu` is not a command", "did you mean `status`?"),
        (["EXPLAIN"], "`EXPLAIN` is not a command", "did you mean `explain`?"),
        (["help"], "`help` is not a command", "did you mean `--help`?"),
        (["version"], "`version` is not a command", "did you mean `--version`?"),
        (["frobnicate"], "`frobnicate` is not a command", "`consentry --help` lists the commands"),
        ([""], "`` is not a command", "`consentry --help` lists the commands"),
        (
            ["status", "--worskpace", "x"],
            "`--worskpace` is not an option of `consentry status`",
            "did you mean `--workspace`?",
        ),
        (
            ["status", "--frobnicate"],
            "`--frobnicate` is not an option of `consentry status`",
            "`consentry status --help` shows what it takes",
        ),
        (["-x"], "`-x` is not an option of `consentry`", "`consentry --help` shows what it takes"),
        (
            ["--workspace", "x", "status"],
            "`--workspace` is not an option of `consentry`",
            "`--workspace` goes after the command word: `consentry status --workspace ...`",
        ),
        (
            ["status", "--version"],
            "`--version` is not an option of `consentry status`",
            "`--version` stands alone: `consentry --version`",
        ),
        (
            ["status", "--workspace"],
            "`--workspace` needs a value",
            "`consentry status --help` shows what it takes",
        ),
        (
            ["status", "--quiet=yes"],
            "`--quiet` takes no value",
            "`consentry status --help` shows what it takes",
        ),
        (
            ["status", "here"],
            "`here` is one word too many for `consentry status`",
            "`consentry status --help` shows what it takes",
        ),
        (
            ["--color", "allways", "status"],
            "`allways` is not a value of `--color`",
            "did you mean `always`?",
        ),
        (
            ["status", "--color", "blue"],
            "`blue` is not a value of `--color`",
            "it takes one of: auto, always, never",
        ),
        (
            ["--quiet", "status", "--verbose"],
            "`--quiet` and `--verbose` contradict each other",
            "leave one of the two out",
        ),
        (
            ["completion"],
            "`consentry completion` needs `SHELL`",
            "`consentry completion --help` shows what it takes",
        ),
        (
            ["tx", "resolve", "tx-01234567"],
            "`consentry tx resolve` needs `--reason`",
            "`consentry tx resolve --help` shows what it takes",
        ),
    ],
)
def test_wrong_command_line_is_answered_with_the_right_one(
    consentry: CommandLine, words: list[str], message: str, help_line: str
) -> None:
    """What is wrong, what would be right, and status 2."""
    ended = consentry(*words)
    assert_error(ended, Code.USAGE)
    assert ended.err == f"consentry: error[usage]: {message}\nhelp: {help_line}\n"


def test_no_command_prints_the_page_and_is_an_error(consentry: CommandLine) -> None:
    """A person sees the page; a script that lost its command word does not read success."""
    ended = consentry()
    assert (ended.status, ended.out) == (2, "")
    assert ended.err.startswith("Usage: consentry ")
    assert "consentry: error[usage]: no command was given\n" in ended.err


def test_hostile_words_are_shown_as_escapes(consentry: CommandLine) -> None:
    """What was typed comes back harmless: no control, no bidi, no second line."""
    ended = consentry("\x1b[2Jstatus\nconsentry: all is well\u202e")
    assert_error(ended, Code.USAGE)
    assert "\x1b" not in ended.err
    assert "`\\u{1b}[2Jstatus\\u{a}consentry: all is well\\u{202e}`" in ended.err


def test_word_that_is_not_utf8_is_shown(consentry: CommandLine) -> None:
    """A byte that is no text is shown as that byte."""
    ended = consentry(b"\xff")
    assert_error(ended, Code.USAGE)
    assert "`\\x{ff}`" in ended.err


# JSON errors


@pytest.mark.parametrize(
    "words",
    [
        ["--json", "status", "--workspace", "missing"],
        ["status", "--json", "--workspace", "missing"],
        ["status", "--workspace", "missing", "--json"],
    ],
)
def test_error_is_a_json_document_on_standard_output(
    consentry: CommandLine, words: list[str]
) -> None:
    """With `--json`, wherever it stands, a script reads one stream, whatever happens."""
    ended = consentry(*words)
    assert (ended.status, ended.err) == (2, "")
    assert json.loads(ended.out) == {
        "schema_version": 1,
        "kind": "error",
        "error": {
            "code": "workspace-missing",
            "message": "`missing`: no such file or directory",
            "where": None,
            "help": Code.WORKSPACE_MISSING.remedy,
            "exit_status": 2,
        },
    }


@pytest.mark.parametrize("words", [["--json"], ["--json", "statsu"], ["status", "--json", "--no"]])
def test_wrong_command_line_is_a_json_document_too(
    consentry: CommandLine, words: list[str]
) -> None:
    """Also when parsing stopped before it came to `--json`."""
    ended = consentry(*words)
    assert (ended.status, ended.err) == (2, "")
    assert json.loads(ended.out)["error"]["code"] == "usage"


def test_json_behind_two_dashes_is_a_word(consentry: CommandLine) -> None:
    """After `--` nothing is an option."""
    assert_error(consentry("explain", "--", "--json"), Code.UNKNOWN_WORD)


def test_json_is_ascii_and_valid_whatever_it_carries(consentry: CommandLine) -> None:
    """Controls, bidi, bytes that are no text: strict readers accept it, terminals are safe."""
    ended = consentry("--json", b"\xff\x1b\x7f\xe2\x80\xae")
    assert ended.out.isascii()
    assert not {"\x1b", "\x7f"} & set(ended.out)
    message = json.loads(ended.out)["error"]["message"]
    assert message == "`\ufffd\x1b\x7f\u202e` is not a command"


# The places


def test_workspace_that_is_a_file(consentry: CommandLine, project: Path) -> None:
    """Named on the command line, so it is wrong usage."""
    (project / "file").touch()
    assert_error(consentry("status", "--workspace", "file"), Code.WORKSPACE_MISSING)


def test_configuration_that_is_missing(consentry: CommandLine) -> None:
    """As for the workspace."""
    assert_error(consentry("status", "--config", "missing"), Code.CONFIG_MISSING)


def test_current_folder_that_is_gone(consentry: CommandLine, project: Path) -> None:
    """Reported as a problem; the rest of the report is still there."""
    gone = project / "gone"
    gone.mkdir()
    ended = consentry.in_shell(f"cd {gone} && rmdir {gone} && consentry status")
    assert ended.status == 1
    assert "[workspace-missing] the current folder does not exist any more" in ended.out
