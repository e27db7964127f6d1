"""Programs that are asked about and want the answer for themselves: what they draw, hide, read and type."""

from collections.abc import Iterator, Sequence
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
        assert list(outside.iterdir()) == []
        while AT_ONCE not in shown:
            terminal.type("\n")
            shown = terminal.see("\n> ")
        while "Enter goes on" in shown:
            terminal.type("\n")
            shown = terminal.see("\n> ")
        terminal.type("a\n")
        assert terminal.ended() == 0, terminal.screen
    assert len(list(outside.iterdir())) == 1
    assert answers(line) == ["granted"]


STEALS = """
import os, select
for number in (0, 2):
    is_heard = select.select([number], [], [], 1.5)[0]
    try: print("had", os.read(number, 100) if is_heard else "nothing", flush=True)
    except OSError as problem: print(type(problem).__name__, flush=True)
print("over", flush=True)
"""
WEAKENED = """
import sys
from consentry.cli import runstreams
from consentry.cli.main import main
runstreams._is_behind = lambda descriptor: False
sys.exit(main())
"""


@pytest.mark.parametrize("words", ["exec --hold", "exec"])
def test_a_job_in_the_background_reads_nothing_that_is_typed_to_others(
    line: CommandLine, words: str
) -> None:
    """Its program is in a session of its own, so that the kernel would not stop it for reading."""
    assert "secret" not in _heard_behind(line, line.program, words)


def test_in_front_the_same_program_hears_what_is_typed(line: CommandLine) -> None:
    """It is the program's to hear there."""
    put(line, "steals.py", STEALS)
    script = f"exec {' '.join(line.program)} exec -- python3 steals.py > said.txt"
    with at_terminal(line, "-c", script, program=("/bin/sh",)) as terminal:
        terminal.type("secret\n")
        assert terminal.ended() == 0, terminal.screen
    assert "had b'secret" in (line.cwd / "said.txt").read_text()


def test_without_looking_who_types_it_hears_what_is_meant_for_another(line: CommandLine) -> None:
    """As the streams are, they are the program's."""
    put(line, "weakened.py", WEAKENED)
    weakened = (line.program[0], "weakened.py")
    assert "had b'secret" in _heard_behind(line, weakened, "exec")


def _heard_behind(line: CommandLine, program: Sequence[str], words: str) -> str:
    """What a program in the background says that it had of what is typed in front."""
    put(line, "steals.py", STEALS)
    started = f"{' '.join(program)} {words} -- python3 steals.py > said.txt"
    script = f"set -m; {started} & wait $!; echo ended"
    with at_terminal(line, "-c", script, program=("/bin/bash",)) as terminal:
        terminal.type("secret\n")
        terminal.see("ended")
        terminal.ended()
    said = (line.cwd / "said.txt").read_text()
    assert said.endswith("over\n")
    return said
