"""Programs that are asked about and want the answer for themselves: what they draw, hide, read and type."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.decide.heldask import AT_ONCE
from tests.cli.conftest import CommandLine
from tests.cli.execs import last_record, put
from tests.cli.terminals import at_terminal
from tests.elsewhere import folder_elsewhere

LOW = (80, 14)


@pytest.fixture
def outside() -> Iterator[Path]:
    """A folder beside everything that is granted."""
    with folder_elsewhere() as folder:
        folder.chmod(0o777)
        yield folder


@pytest.fixture
def line(consentry: CommandLine) -> CommandLine:
    """A user with nothing granted but the workspace."""
    return consentry


def answers(line: CommandLine) -> list[str]:
    """How the questions of the last run were answered."""
    return [each["answer"] for each in last_record(line)["impact"]["held"]]


def test_a_yes_is_taken_only_when_all_of_the_question_was_seen(
    line: CommandLine, outside: Path
) -> None:
    """A long name drives what is said behind it to the next page: that it is written at once."""
    code = (
        "import os, sys\ntry: os.mkdir(sys.argv[1] + '/' + '\\x01\\x02' * 125)\n"
        "except OSError: print('refused', flush=True)\n"
    )
    put(line, "long.py", code)
    with at_terminal(
        line, "exec", "--hold", "--", "python3", "long.py", str(outside), size=LOW
    ) as terminal:
        assert AT_ONCE not in terminal.see("\n> ")
        terminal.type("a\n")
        shown = terminal.see("\n> ")
        assert "see it to its end first" in shown
        assert os.listdir(outside) == []
        while AT_ONCE not in shown:
            terminal.type("\n")
            shown = terminal.see("\n> ")
        while "Enter goes on" in shown:
            terminal.type("\n")
            shown = terminal.see("\n> ")
        terminal.type("a\n")
        assert terminal.ended() == 0, terminal.screen
    assert len(os.listdir(outside)) == 1
    assert answers(line) == ["granted"]
