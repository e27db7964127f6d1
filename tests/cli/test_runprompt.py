"""The prompt of `consentry run` with all that can happen to it: other terminals, time, changes, endings."""

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.asking import consents_given, desk_of, request_of
from tests.cli.conftest import CommandLine
from tests.cli.execs import last_record
from tests.cli.execs import put as put_file
from tests.cli.terminals import at_terminal
from tests.cli.tooling import tool

TALL = (200, 100)
WORK = "echo done > out/file; echo was-here"


@pytest.fixture
def line(consentry: CommandLine) -> CommandLine:
    """A user with a tool that leaves a file."""
    tool(consentry, "work", WORK)
    return consentry


def waiting(line: CommandLine) -> str:
    """The id of the one question that waits."""
    (request_id,) = line("inbox", "--quiet").out.split()
    return request_id


def ran(line: CommandLine) -> bool:
    """Whether the tool left its file."""
    return (line.cwd / "out/file").exists()


def approve(line: CommandLine, request_id: str, *words: str) -> None:
    """Says yes at another terminal."""
    with at_terminal(line, "approve", request_id, *words, size=TALL) as terminal:
        terminal.answer("", "a")
        assert terminal.ended() == 0, terminal.screen


def test_another_terminal_approves_first(line: CommandLine) -> None:
    """The prompt ends by itself, says by whom and when, and the run goes on."""
    with at_terminal(line, "run", "work", size=TALL) as terminal:
        terminal.see("\n> ")
        request_id = waiting(line)
        approve(line, request_id)
        terminal.see("was-here")
        assert terminal.ended() == 0, terminal.screen
    settled = request_of(line, request_id)
    assert settled.answered_at is not None
    assert f"`{request_id}` was approved by" in terminal.screen
    assert settled.answered_at.shown() in terminal.screen
    assert ran(line)


def test_another_terminal_denies_first(line: CommandLine) -> None:
    """Nothing runs, and the refusal is on record."""
    with at_terminal(line, "run", "work", size=TALL) as terminal:
        terminal.see("\n> ")
        with at_terminal(line, "deny", waiting(line), "--reason", "not today") as second:
            assert second.ended() == 0, second.screen
        assert terminal.ended() == 126, terminal.screen
    assert "error[approval-denied]" in terminal.screen
    assert "not today" in terminal.screen
    assert not ran(line)
    record = last_record(line)
    assert (record["execution"]["status"], record["user"]["consentGiven"]) == ("denied", False)


@pytest.mark.parametrize("key", ["\x03", "\x04"], ids=["ctrl-c", "end of input"])
def test_turning_away_denies_and_is_recorded(line: CommandLine, key: str) -> None:
    """A clear message, a stable code, a ledger entry, nothing half-done."""
    with at_terminal(line, "run", "work", size=TALL) as terminal:
        terminal.see("\n> ")
        terminal.type(key)
        assert terminal.ended() == 126, terminal.screen
    assert "error[approval-denied]" in terminal.screen
    assert "cancelled at the prompt" in terminal.screen
    assert "run it again to be asked again" in terminal.screen
    assert last_record(line)["execution"]["status"] == "denied"
    assert not ran(line)
    assert consents_given(line, "work") == []


def test_the_deadline_of_the_settings_denies(line: CommandLine) -> None:
    """While the prompt is open; its own code, and nobody's answer."""
    put_file(
        line,
        "../home/.config/consentry/settings.yaml",
        "approvals: {deadlines: {prompt: 2s}}\n",
    )
    with at_terminal(line, "run", "work", size=TALL) as terminal:
        terminal.see("\n> ")
        assert terminal.ended() == 126, terminal.screen
    assert "error[approval-expired]" in terminal.screen
    assert not ran(line)


def test_a_policy_that_changes_supersedes_the_open_prompt(line: CommandLine) -> None:
    """At once, without an answer (CONTRACTS §8-policy-change)."""
    with at_terminal(line, "run", "work", size=TALL) as terminal:
        terminal.see("\n> ")
        document = 'consentSystem:\n  version: "1.0.0"\n  defaultPolicy: require_strict\n'
        put_file(line, "../home/.config/consentry/consent-config.yaml", document)
        assert terminal.ended() == 126, terminal.screen
    assert "error[approval-superseded]" in terminal.screen
    assert not ran(line)


def test_a_tool_that_changes_while_the_prompt_is_open_does_not_run(line: CommandLine) -> None:
    """Approve A, run B: the yes was for other bytes."""
    with at_terminal(line, "run", "work", size=TALL) as terminal:
        terminal.see("\n> ")
        tool(line, "work", "echo evil > out/file")
        terminal.type("a\n")
        assert terminal.ended() == 126, terminal.screen
    assert "error[consent-stale]" in terminal.screen
    assert not ran(line)


def test_a_closed_terminal_parks_the_question_and_it_is_dispatched_once(line: CommandLine) -> None:
    """The process is gone with its terminal; the question waits, is approved, and run once."""
    with at_terminal(line, "run", "work", size=TALL) as terminal:
        terminal.see("\n> ")
        terminal.close()
        assert terminal.ended() == -signal.SIGHUP
    request_id = waiting(line)
    assert not ran(line)
    approve(line, request_id)
    first = line("run", "--request", request_id)
    assert first.status == 0, first.err
    assert ran(line)
    second = line("run", "--request", request_id)
    assert second.status == 126
    assert "consent-closed" in second.err


def test_without_a_terminal_it_waits_and_goes_on_when_approved(line: CommandLine) -> None:
    """Parked: the waiting process runs it; with --no-wait it leaves with 75 at once."""
    left = line("run", "--no-wait", "work")
    assert left.status == 75
    first = waiting(line)
    with at_terminal(line, "deny", first) as terminal:
        assert terminal.ended() == 0
    with subprocess.Popen(
        [*line.program, "run", "work"],
        cwd=line.cwd,
        env=line.environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"a\ny\nyes\n")  # a pipe is no answer
        process.stdin.flush()
        assert b"waits for an answer" in process.stderr.readline()
        approve(line, waiting(line))
        assert process.wait(60) == 0
    assert ran(line)


def test_the_second_yes_of_a_strict_run_may_come_from_another_terminal(line: CommandLine) -> None:
    """First yes here with reason and name; the effect is approved there, in sight, and committed."""
    tool(line, "work", WORK, "consentLevel: strict")
    with at_terminal(line, "run", "work", size=TALL) as terminal:
        terminal.answer("", "a")
        terminal.answer("why?", "the release")
        terminal.answer("type work to approve", "work")
        terminal.see("commit exactly this?")
        assert not ran(line)
        with at_terminal(line, "approve", waiting(line), size=TALL) as second:
            assert "+done" in second.see("commit exactly this?")
            second.answer("", "a")
            assert second.ended() == 0, second.screen
        assert terminal.ended() == 0, terminal.screen
    assert ran(line)
    assert "was approved by" in terminal.screen


def test_denying_the_effect_elsewhere_discards_it(line: CommandLine) -> None:
    """The run is over, its effect is not taken over, and both sides say so."""
    tool(line, "work", WORK, "consentLevel: strict")
    with at_terminal(line, "run", "work", size=TALL) as terminal:
        terminal.answer("", "a")
        terminal.answer("why?", "the release")
        terminal.answer("type work to approve", "work")
        terminal.see("commit exactly this?")
        with at_terminal(line, "deny", waiting(line)) as second:
            assert second.ended() == 0, second.screen
        assert terminal.ended() == 126, terminal.screen
    assert not ran(line)
    shelf = Path(line.environ["HOME"]) / ".local/state/consentry/rehearsed"
    assert [each for each in shelf.iterdir() if "@" in each.name] == []


def test_the_requests_of_a_run_name_the_tool_and_its_session(line: CommandLine) -> None:
    """CONTRACTS §9-requester: the subject is the tool, and the person who answered is another."""
    with at_terminal(line, "run", "work", size=TALL) as terminal:
        terminal.answer("", "a")
        assert terminal.ended() == 0, terminal.screen
    document = json.loads(line("audit", "log", "--type", "approval.requested", "--json").out)
    (asked,) = document["events"]
    assert asked["payload"]["subject"] == "tool:work"
    with desk_of(line) as desk:
        request = desk.look(asked["payload"]["requestId"])
    assert request.answer is not None
    assert request.answer.by.startswith("local:")
