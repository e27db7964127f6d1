"""Every way a prompt can end without a yes: turned away from, closed, killed, overtaken, too late."""

import signal

import pytest

from consentry.base.units import Duration
from consentry.declare.tool import ConsentLevel
from tests.cli.asking import consents_given, put, request_of, set_passphrase, status_of
from tests.cli.conftest import CommandLine
from tests.cli.terminals import at_terminal
from tests.decide.samples import ask

STRICT = ask(ConsentLevel.STRICT)
TALL = (200, 400)
POINTS = (
    ("choice", []),
    ("reason", ["a"]),
    ("word", ["a", "the release"]),
    ("passphrase", ["a", "the release", "build"]),
)


@pytest.mark.parametrize(("point", "before"), POINTS, ids=[name for name, _ in POINTS])
@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["ctrl-c", "end of input"])
def test_turning_away_at_any_point_denies(
    consentry: CommandLine, point: str, before: list[str], key: str
) -> None:
    """Nothing half-done: no consent, and the request says that it was cancelled."""
    if point == "passphrase":
        set_passphrase(consentry)
    request_id = put(consentry, STRICT)
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        for line in before:
            terminal.answer("", line)
        terminal.see("\n> ")
        terminal.type(key)
        assert terminal.ended() == 126, terminal.screen
    said = terminal.screen.rpartition("> ")[2]
    assert said.replace("^C", "").startswith("\n"), "what is said begins a line of its own"
    answer = request_of(consentry, request_id).answer
    assert answer is not None
    assert (answer.outcome, answer.reason) == ("denied", "cancelled at the prompt")
    assert consents_given(consentry) == []


@pytest.mark.parametrize(("point", "before"), POINTS[:3], ids=[name for name, _ in POINTS[:3]])
@pytest.mark.parametrize("ignores", [(), (signal.SIGHUP,)], ids=["hang-up", "hang-up ignored"])
def test_a_closed_terminal_answers_nothing(
    consentry: CommandLine, point: str, before: list[str], ignores: tuple[signal.Signals, ...]
) -> None:
    """At any point: the request waits on until its deadline, open to another terminal."""
    request_id = put(consentry, STRICT)
    with at_terminal(consentry, "approve", request_id, size=TALL, ignores=ignores) as terminal:
        for line in before:
            terminal.answer("", line)
        terminal.see("\n> ")
        terminal.close()
        assert terminal.ended() in ((75, 125) if ignores else (-signal.SIGHUP,)), point
    assert status_of(consentry, request_id) == "pending"
    assert consents_given(consentry) == []


def test_a_killed_prompt_leaves_the_question_open(consentry: CommandLine) -> None:
    """The signal that cannot be caught: the row is as it was."""
    request_id = put(consentry)
    with at_terminal(consentry, "approve", request_id) as terminal:
        terminal.see("\n> ")
        terminal.process.kill()
        assert terminal.ended() == -signal.SIGKILL
    assert status_of(consentry, request_id) == "pending"


def test_a_second_terminal_answers_first(consentry: CommandLine) -> None:
    """The first prompt ends by itself and says who answered and when."""
    request_id = put(consentry)
    with at_terminal(consentry, "approve", request_id, size=TALL) as first:
        first.see("\n> ")
        first.type("hal")
        with at_terminal(consentry, "deny", request_id, "--reason", "no") as second:
            assert second.ended() == 0, second.screen
        assert first.ended() == 126, first.screen
    settled = request_of(consentry, request_id)
    assert settled.answered_at is not None
    assert "error[request-settled]" in first.screen
    flat = first.screen.replace("\n|", "")
    assert f"was denied by `{settled.answer and settled.answer.by}`" in flat
    assert settled.answered_at.shown() in flat


def test_the_deadline_passes_while_the_prompt_is_open(consentry: CommandLine) -> None:
    """It is denied by nobody, with its own code, and the prompt ends; a late yes is refused."""
    request_id = put(consentry, within=Duration(3_000))
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        terminal.see("\n> ")
        assert terminal.ended() == 126, terminal.screen
    assert "error[request-late]" in terminal.screen
    assert status_of(consentry, request_id) == "expired"
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        assert terminal.ended() == 126
    assert "error[request-late]" in terminal.screen
    assert consents_given(consentry) == []


def test_in_the_background_nobody_is_asked(consentry: CommandLine) -> None:
    """The terminal is another program's to type on: refused at once, and not stopped for trying."""
    request_id = put(consentry)
    script = f"set -m; {' '.join(consentry.program)} approve {request_id} & wait $!; echo status $?"
    with at_terminal(consentry, "-c", script, program=["/bin/bash"]) as terminal:
        terminal.see("status 126")
    assert "error[terminal-missing]" in terminal.screen
    assert status_of(consentry, request_id) == "pending"
