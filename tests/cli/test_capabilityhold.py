"""`consentry capability run --hold`: asked at the moment of the denial, while the code waits."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.codes import Code
from tests.cli.capabilities import (
    READER,
    TALL,
    answered,
    decisions,
    run,
    saved,
    shown,
    waiting,
)
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.escalating import inbox
from tests.cli.execs import last_record
from tests.cli.terminals import at_terminal
from tests.denos import deno_line
from tests.elsewhere import folder_elsewhere

__all__ = ["deno_line"]  # a fixture that tests here ask for by name


@pytest.fixture
def secret() -> Iterator[Path]:
    """A file beside everything that a set opens."""
    with folder_elsewhere() as folder:
        folder.chmod(0o755)
        (folder / "secret.txt").write_text("blue")
        (folder / "secret.txt").chmod(0o644)
        yield folder / "secret.txt"


def test_what_is_held_is_asked_about_while_the_code_waits(line: CommandLine, secret: Path) -> None:
    """A yes opens that one file to that run: there is no retry, no larger set and no row of it."""
    saved(line, "reader", READER, "--set", "filesystem")
    words = ("capability", "run", "reader", "--arg", f'name="{secret}"', "--hold")
    with at_terminal(line, *words, size=TALL) as terminal:
        text = terminal.see("a approve | d deny")
        assert str(secret) in text
        terminal.answer("", "a")
        assert terminal.ended() == 0, terminal.screen
    assert '"blue"\n' in terminal.screen
    assert shown(line, "reader")["effectiveSet"] == "filesystem"
    assert [row["detectedOperation"] for row in decisions(line)] == ["manual"]
    (held,) = last_record(line)["impact"]["held"]
    assert (held["resource"], held["answer"]) == (str(secret), "granted")


def test_what_is_held_and_denied_is_not_asked_again(line: CommandLine, secret: Path) -> None:
    """No set opens what lies elsewhere: after the no the code has its own error and status."""
    saved(line, "reader", READER, "--set", "filesystem")
    words = ("capability", "run", "reader", "--arg", f'name="{secret}"', "--hold")
    with at_terminal(line, *words, size=TALL) as terminal:
        terminal.answer("d deny", "d")
        assert terminal.ended() == 1, terminal.screen
    assert "blue" not in terminal.screen
    assert "=== Permission Escalation" not in terminal.screen


def test_a_held_question_is_answered_from_another_process(line: CommandLine, secret: Path) -> None:
    """Without a terminal it is announced, waits in the inbox, and the code goes on with the answer."""
    saved(line, "reader", READER, "--set", "filesystem")
    process = waiting(line, "reader", "--arg", f'name="{secret}"', "--hold")
    (request,) = inbox(line)
    assert request["kind"] == "hold"
    answered(line, request["requestId"], "a")
    out, err = process.communicate(timeout=50)
    assert (process.returncode, out) == (0, b'"blue"\n'), err


def test_deno_holds_nothing(deno_line: CommandLine) -> None:
    """Deno refuses by itself before there is a call to hold: that is told before anything runs."""
    saved(deno_line, "two", "return 2;\n", ending="ts")
    done = run(deno_line, "two", "--hold")
    assert_error(done, Code.HOLD_REFUSED)
    assert run(deno_line, "two").out == "2\n"
