"""What somebody types who never used the command before: each try works, or is told what would."""

import pytest

from consentry.base.codes import Code
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.terminals import at_terminal
from tests.cli.toolhomes import write_consent, write_tool

WRITES = """\
import pathlib, sys
pathlib.Path('made.txt').write_text('made')
print(sys.argv[1:])
"""
MADE = [{"pattern": "made.txt", "purpose": "what it makes"}]


@pytest.fixture
def home_with_a_tool(consentry: CommandLine) -> CommandLine:
    """One tool that writes a file, and runs unasked."""
    entry = {"command": "/usr/bin/python3", "arguments": ["make.py"]}
    write_tool(consentry, "make", WRITES, fileWrite=MADE, entrypoint=entry)
    write_consent(consentry, {"none": {"allowedTools": ["make"]}})
    return consentry


def test_an_option_behind_the_tools_name_is_ours(home_with_a_tool: CommandLine) -> None:
    """A rehearsal that was asked for there is one: nothing is written, and nothing reaches the tool."""
    ended = home_with_a_tool("run", "make", "--rehearse")
    assert (ended.status, ended.out) == (0, "[]\n")
    assert not (home_with_a_tool.cwd / "made.txt").exists()


def test_an_option_that_we_do_not_have_is_perhaps_the_tools(home_with_a_tool: CommandLine) -> None:
    """The message says where words for the tool stand, and nothing runs."""
    ended = home_with_a_tool("run", "make", "--draft")
    assert_error(ended, Code.USAGE)
    assert "`--draft` is not an option of `consentry run`" in ended.err
    assert "behind `--`" in ended.err
    assert not (home_with_a_tool.cwd / "made.txt").exists()
    assert home_with_a_tool("run", "make", "--", "--draft").out == "['--draft']\n"


@pytest.mark.parametrize("name", ["./script.sh", "/bin/ls", "bin/ls"])
def test_a_path_is_no_tool(home_with_a_tool: CommandLine, name: str) -> None:
    """Who wants to run a program is told which command does."""
    ended = home_with_a_tool("run", name)
    assert_error(ended, Code.TOOL_UNKNOWN)
    assert "`consentry exec -- PROGRAM`" in ended.err


def test_where_no_tool_is_known_there_is_a_way_to_begin(consentry: CommandLine) -> None:
    """Not a list that would be empty."""
    ended = consentry("run", "lint")
    assert_error(ended, Code.TOOL_UNKNOWN)
    assert "`consentry init`" in ended.err


@pytest.mark.parametrize("word", ["approve", "deny"])
def test_an_answer_without_an_id_is_told_where_ids_are(consentry: CommandLine, word: str) -> None:
    """The command that lists what waits is named."""
    ended = consentry(word)
    assert_error(ended, Code.USAGE)
    assert "`consentry inbox`" in ended.err


def test_the_keys_of_a_prompt_fit_eighty_columns(line: CommandLine) -> None:
    """On every page of the details: broken between two keys, never within one."""
    write_tool(line, "make", WRITES, fileWrite=MADE)
    for number in range(40):
        (line.cwd / f"part{number}.txt").touch()
    parts = [{"pattern": "*.txt", "purpose": "parts"}, {"pattern": "make.py", "purpose": "itself"}]
    write_tool(line, "make", WRITES, fileRead=parts)
    with at_terminal(line, "run", "make", size=(80, 24)) as terminal:
        terminal.answer("", "i")
        page = terminal.see("\n> ")
        terminal.type("\x03")
        assert terminal.ended() == 126, terminal.screen
    keys = page[page.index("Enter goes on") :].splitlines()
    assert keys[-2] == "r remember for this session"
    assert all(len(each) <= 80 for each in keys), keys
