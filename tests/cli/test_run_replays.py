"""A yes that is used again for something else: another workspace, level, machine, or a second time.

Attacks on approvals, each beside the same action where the yes does reach.
"""

import time
from dataclasses import replace
from pathlib import Path

import pytest

from tests.cli.conftest import CommandLine
from tests.cli.killing import killing_at
from tests.cli.terminals import at_terminal
from tests.cli.toolhomes import (
    GREETING,
    config_of,
    entries_of,
    requests_of,
    write,
    write_consent,
    write_tool,
)

HELLO = "hello from the tool\n"
TALL = (100, 60)


def approve(line: CommandLine, request: str, *options: str) -> None:
    """A person looks at it and says yes."""
    with at_terminal(line, "approve", request, *options, size=TALL) as terminal:
        terminal.answer("greet", "a")
        assert terminal.ended() == 0, terminal.screen


def parked(line: CommandLine) -> str:
    """The question of a run that nobody waits for."""
    ended = line("run", "--no-wait", "greet")
    assert ended.status == 75, ended.err
    return str(requests_of(line)[-1]["requestId"])


def elsewhere(line: CommandLine) -> CommandLine:
    """Another workspace of the same user, with the same script in it."""
    other = replace(line, cwd=line.cwd.parent / "other")
    write(line, other.cwd / ".git/HEAD", "")
    write(line, other.cwd / "greet.py", GREETING)
    return other


def test_a_yes_for_once_is_for_the_workspace_it_was_asked_in(consentry: CommandLine) -> None:
    """CONTRACTS §8-bind: killed before its run, it starts the run there and nowhere else."""
    write_tool(consentry, "greet")
    program, environ = killing_at(consentry, "consent given")
    with at_terminal(consentry, "run", "greet", program=program, **environ) as terminal:
        terminal.answer("greet", "a")
        assert terminal.ended() == -9, terminal.screen
    other = elsewhere(consentry)
    ended = other("run", "--no-wait", "greet")
    assert (ended.status, ended.out) == (75, "")
    assert consentry("run", "--no-wait", "greet").out == HELLO


@pytest.mark.parametrize(("is_own", "covers"), [(True, True), (False, False)])
def test_a_remembered_yes_follows_a_tool_of_ones_own_and_no_strangers(
    consentry: CommandLine, *, is_own: bool, covers: bool
) -> None:
    """CONTRACTS §8-bind: the same bytes in another clone come with modules nobody was shown."""
    manifest = write_tool(consentry, "greet")
    other = elsewhere(consentry)
    if not is_own:
        for each in (consentry, other):
            write(each, each.cwd / ".consentry/tools/greet.yaml", manifest.read_text())
        manifest.unlink()
    approve(consentry, parked(consentry), "--permanent")
    assert consentry("run", "--no-wait", "greet").out == HELLO
    ended = other("run", "--no-wait", "greet")
    assert (ended.status, ended.out) == ((0, HELLO) if covers else (75, ""))


def test_a_yes_at_a_lower_level_does_not_stand_at_strict(consentry: CommandLine) -> None:
    """CONSENT §level-strict: whoever raises a tool to strict is asked with reason and typed word."""
    write_tool(consentry, "greet")
    approve(consentry, parked(consentry), "--permanent")
    assert consentry("run", "--no-wait", "greet").out == HELLO
    write_consent(consentry, {"strict": {"allowedTools": ["greet"]}})
    with at_terminal(consentry, "run", "greet", size=TALL) as terminal:
        terminal.see("lower level than strict")
        terminal.answer("", "a")
        terminal.answer("why?", "it is needed")
        terminal.answer("type greet", "greet")
        assert terminal.ended() == 0, terminal.screen
    assert entries_of(consentry)[-1]["user"]["consentMethod"] == "strict_approval"


@pytest.mark.parametrize("option", ["--once", "--session", "--permanent"])
def test_a_request_is_dispatched_once_however_long_its_yes_is_remembered(
    consentry: CommandLine, option: str
) -> None:
    """The run that was asked for is one run; others are asked for by the tool's name."""
    write_tool(consentry, "greet")
    request = parked(consentry)
    approve(consentry, request, option)
    assert consentry("run", "--request", request).out == HELLO
    again = consentry("run", "--request", request)
    assert (again.status, again.out) == (126, "")
    assert "consent-closed" in again.err


def test_a_yes_that_was_taken_back_before_its_dispatch_starts_nothing(
    consentry: CommandLine,
) -> None:
    """CONSENT SC-6: revoked between the answer and the run."""
    write_tool(consentry, "greet")
    request = parked(consentry)
    approve(consentry, request)
    assert consentry("consent", "revoke", "--tool", "greet").status == 0
    ended = consentry("run", "--request", request)
    assert (ended.status, ended.out) == (126, "")


def test_a_deadline_is_for_the_answer_and_not_for_the_dispatch(consentry: CommandLine) -> None:
    """Answered in time it stands; unanswered it is denied, with a code of its own."""
    write_tool(consentry, "greet")
    deadlines = {"approvals": {"deadlines": {"parked": "4s"}}}
    write(consentry, config_of(consentry) / "settings.yaml", deadlines)
    answered = parked(consentry)
    approve(consentry, answered)
    time.sleep(4.1)
    assert consentry("run", "--request", answered).out == HELLO
    silent = parked(consentry)
    time.sleep(4.1)
    ended = consentry("run", "--request", silent)
    assert (ended.status, ended.out) == (126, "")
    assert "approval-expired" in ended.err


def test_a_request_of_another_machine_is_dispatched_there(
    consentry: CommandLine, postgres_url: str, tmp_path: Path
) -> None:
    """Two state directories are two machines: the yes is seen by both, and starts a run on one."""
    write_tool(consentry, "greet")
    ours = replace(consentry, environ={**consentry.environ, "CONSENTRY_STORE": postgres_url})
    theirs = replace(ours, environ={**ours.environ, "CONSENTRY_STATE": str(tmp_path / "theirs")})
    request = parked(ours)
    approve(ours, request)
    ended = theirs("run", "--request", request)
    assert (ended.status, ended.out) == (126, "")
    assert "was asked on" in ended.err
    assert ours("run", "--request", request).out == HELLO


def test_a_configuration_in_the_workspace_is_a_strangers_also_when_it_is_named(
    consentry: CommandLine,
) -> None:
    """`--config` names a folder, and does not make its documents the user's own."""
    manifest = write_tool(consentry, "greet")
    consent = write_consent(consentry, {"none": {"allowedTools": ["greet"]}})
    assert consentry("run", "--no-wait", "greet").out == HELLO
    inside, outside = consentry.cwd / "theirs", consentry.cwd.parent / "mine"
    for folder in (inside, outside):
        write(consentry, folder / "tools/greet.yaml", manifest.read_text())
        write(consentry, folder / "consent-config.yaml", consent.read_text())
    assert consentry("run", "--no-wait", "--config", str(outside), "greet").out == HELLO
    ended = consentry("run", "--no-wait", "--config", str(inside), "greet")
    assert (ended.status, ended.out) == (75, "")
