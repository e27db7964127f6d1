"""Programs that are asked about and want the answer for themselves: what they draw, hide, read and type."""

import time
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
from consentry.cli import runstreams, terminal
from consentry.cli.main import main
runstreams._is_behind = lambda descriptor: False
sys.exit(main())
"""
BEHIND = "runstreams._is_behind = lambda descriptor: False"


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


WAITS_FOR_A_WORD = """
import os, sys, tty
tty.setraw(0)
print("type really to go on: ", end="", flush=True)
typed = b""
while not typed.endswith(b"reall"):
    typed += os.read(0, 1)
try: print("it says", open(sys.argv[1]).read(), flush=True)
except OSError as problem: print(type(problem).__name__, flush=True)
"""


def test_what_a_person_is_about_to_type_to_a_program_is_no_answer(
    line: CommandLine, outside: Path
) -> None:
    """The question comes up in the middle of a word, whose last letter and Enter would be a yes."""
    assert _answered_by_the_rest_of_a_word(line, line.program, outside) == ["refused"]


def test_without_waiting_for_quiet_the_rest_of_a_word_is_a_yes(
    line: CommandLine, outside: Path
) -> None:
    """The person typed on, and has not read what came up meanwhile."""
    put(line, "weakened.py", WEAKENED.replace(BEHIND, "terminal.QUIET_SECONDS = 0.0"))
    weakened = (line.program[0], "weakened.py")
    assert _answered_by_the_rest_of_a_word(line, weakened, outside) == ["granted"]


def _answered_by_the_rest_of_a_word(
    line: CommandLine, program: Sequence[str], outside: Path
) -> list[str]:
    (outside / "secret").write_text("blue")
    put(line, "word.py", WAITS_FOR_A_WORD)
    words = ("exec", "--hold", "--", "python3", "word.py", str(outside / "secret"))
    with at_terminal(line, *words, program=program, size=(200, 60)) as terminal:
        terminal.see("go on: ")
        terminal.type("reall")
        terminal.see("a approve")
        for key in "y\n":
            time.sleep(0.15)
            terminal.type(key)
        terminal.see("\n> ")
        time.sleep(0.5)
        terminal.type("d\n")
        assert terminal.ended() == 0, terminal.screen
    return answers(line)
