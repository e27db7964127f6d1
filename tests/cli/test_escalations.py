"""`consentry escalations`: every decision about a larger set, filtered, the newest first."""

import json

import pytest

from consentry.base.clock import Instant
from consentry.base.codes import Code
from consentry.base.units import Duration
from tests.cli.capabilities import COUNT, FETCH, decisions, saved, shown, without_terminal
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.escalating import escalation, of_task
from tests.cli.terminals import at_terminal

TALL = (100, 60)


@pytest.fixture
def decided(consentry: CommandLine) -> CommandLine:
    """A yes, a no and a deadline for one capability, a set by hand for another, a yes for a task."""
    saved(consentry, "count", COUNT)
    saved(consentry, "fetch", FETCH)
    _answer(consentry, escalation(consentry, "count", execution_id="first"), "r")
    escalation(consentry, "count", within=Duration(1), execution_id="second")
    _answer(consentry, escalation(consentry, "count", execution_id="third"), "a")
    assert consentry("capability", "set", "fetch", "minimal", "--reason", "quiet").status == 0
    _answer(consentry, of_task(consentry, "task-1"), "a")
    return consentry


def _answer(line: CommandLine, request_id: str, word: str) -> None:
    with at_terminal(line, "approve", request_id, size=TALL) as terminal:
        terminal.answer("a approve", word)
        terminal.ended()


def test_every_decision_is_listed_the_newest_first(decided: CommandLine) -> None:
    """ESCALATION AC7, AC9.4: yes, no, deadline, by hand and of tasks, with all columns of the log."""
    rows = decisions(decided)
    assert len(rows) == 5
    assert rows[0]["capabilityId"] == "task-1"
    assert [row["timestamp"] for row in rows] == sorted(
        (row["timestamp"] for row in rows), reverse=True
    )
    assert {row["approvedBy"].partition(":")[0] for row in rows} == {"local", "system"}
    assert set(rows[0]) == {
        "id",
        "timestamp",
        "capabilityId",
        "name",
        "fromSet",
        "toSet",
        "approved",
        "approvedBy",
        "reason",
        "detectedOperation",
    }
    told = decided("escalations").out
    assert told.count("approved  ") == 2
    assert told.count("rejected  ") == 2
    assert "by hand   fetch  network-api → minimal" in told
    assert "PermissionDenied: Requires net access to api.example.com:443" in told
    assert "by system" in told


def test_they_are_filtered_by_whom_how_and_when(decided: CommandLine) -> None:
    """ESCALATION §log-4: by name, id or task; by outcome; by time; and no more than asked for."""
    count = shown(decided, "count")["id"]
    assert [row["approved"] for row in decisions(decided, "count", "--approved")] == [True]
    assert len(decisions(decided, count)) == 3
    assert [row["approved"] for row in decisions(decided, "count", "--rejected")] == [False, False]
    assert [row["name"] for row in decisions(decided, "task-1")] == [None]
    assert len(decisions(decided, "--limit", "2")) == 2
    assert decisions(decided, "--until", "1day") == []
    assert len(decisions(decided, "--since", "1day")) == 5
    assert decided("escalations", "--until", "1day").out == "nothing was decided\n"
    assert len(decided("escalations", "--quiet").out.split()) == 5


def test_the_moment_until_which_is_itself_left_out(decided: CommandLine) -> None:
    """As `--until` has it everywhere, though the log knows whole seconds only."""
    first = decisions(decided)[-1]["timestamp"]
    assert decisions(decided, "--until", str(Instant(first * 1000))) == []
    newest = decisions(decided)[0]["timestamp"]
    assert len(decisions(decided, "--until", str(Instant((newest + 1) * 1000)))) == 5


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--approved", "--rejected"), Code.USAGE),
        (("--since", "whenever"), Code.TIMESTAMP),
        (("--limit", "0"), Code.USAGE),
        (("nobody",), Code.CAPABILITY_MISSING),
        (("a", "b"), Code.USAGE),
    ],
)
def test_a_mistake_is_one_clear_message(
    consentry: CommandLine, words: tuple[str, ...], code: Code
) -> None:
    """With its code and status, whether anything was ever recorded or not."""
    assert_error(consentry("escalations", *words), code)


def test_nothing_yet_is_an_answer(line: CommandLine) -> None:
    """Where nothing was recorded, and where nothing was decided."""
    assert line("escalations").out == "nothing was decided\n"
    assert line("escalations", "--refused").out == "nothing was refused\n"
    saved(line, "count", COUNT)
    assert json.loads(line("escalations", "count", "--json").out)["decisions"] == []


def test_what_nobody_was_asked_about_is_listed_apart(line: CommandLine) -> None:
    """ESCALATION §log-5: refusals are events without a row; they have their code and the denial."""
    saved(line, "starts", "import subprocess\nresult = subprocess.run(['/usr/bin/id'])\n")
    without_terminal(line)("capability", "run", "starts")
    assert decisions(line) == []
    told = line("escalations", "--refused").out
    assert "refused   starts  in " in told
    assert f"nobody was asked: {Code.ESCALATION_CRITICAL}" in told
    document = json.loads(line("escalations", "starts", "--refused", "--json").out)
    (refusal,) = document["refusals"]
    assert (refusal["name"], refusal["code"]) == ("starts", str(Code.ESCALATION_CRITICAL))
    assert len(line("escalations", "--refused", "--quiet").out.split()) == 1
