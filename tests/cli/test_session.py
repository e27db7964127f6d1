"""`consentry session`: the real command at real terminals, that is, in real login sessions."""

import json
import os
import subprocess
from pathlib import Path

import pytest

from consentry.base.codes import Code
from consentry.service.ledgers import ledger_for_writing
from consentry.service.surroundings import Surroundings
from tests.cli.conftest import PROGRAM, CommandLine, Ended, assert_error
from tests.record.samples import Drafts

RECORDS = ("audit", "checkpoint", "--quiet")


@pytest.fixture
def at_work(consentry: CommandLine) -> CommandLine:
    """The command where something was recorded before, by a program and in no session."""
    around = Surroundings(consentry.environ, consentry.cwd, uid=os.geteuid())
    ledger = ledger_for_writing(around)
    ledger.append(Drafts().make())
    ledger.close()
    return consentry


def sessions(consentry: CommandLine, *words: str) -> list[dict[str, object]]:
    """What the list has, as documents."""
    found = json.loads(consentry("session", "list", "--json", *words).out)
    assert found["kind"] == "session-list"
    listed: list[dict[str, object]] = found["sessions"]
    return listed


def in_another_login(consentry: CommandLine, *words: str) -> None:
    """Runs the command as the only process of a login session of its own."""
    subprocess.run(
        [*PROGRAM, *words],
        cwd=consentry.cwd,
        env=consentry.environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
        start_new_session=True,
    )


def test_where_nothing_was_recorded_there_is_no_session(consentry: CommandLine) -> None:
    """And asking makes nothing."""
    assert consentry("session", "list").out == "no session goes on\n"
    assert consentry("session", "list", "--all").out == "there was no session yet\n"
    assert consentry("session", "list", "--quiet") == Ended(0, "", "")
    assert consentry("session", "end").out == "no session goes on at this terminal\n"
    assert_error(consentry("session", "end", "session-x"), Code.ID_UNKNOWN)
    assert not (Path(consentry.environ["HOME"]) / ".local").exists()


def test_commands_at_one_terminal_share_a_session(at_work: CommandLine) -> None:
    """Started by the first that records something, and marked as the one of this terminal."""
    assert sessions(at_work) == []
    at_work(*RECORDS)
    at_work(*RECORDS)
    [session] = sessions(at_work)
    assert (session["here"], session["kind"], session["endedAt"]) == (True, "terminal", None)
    shown = at_work("session", "list").out
    assert shown.startswith(f"{session['sessionId']}  ")
    assert shown.endswith("  this terminal\n")
    assert at_work("session", "list", "--quiet").out == f"{session['sessionId']}\n"
    logged = at_work("audit", "log", "--session", str(session["sessionId"]), "--quiet")
    assert len(logged.out.splitlines()) == 3, "its start, and two checkpoints"


def test_the_session_of_this_terminal_is_ended_and_the_next_command_starts_another(
    at_work: CommandLine,
) -> None:
    """Ending is recorded; ended before, it says so."""
    at_work(*RECORDS)
    [first] = sessions(at_work)
    ended = json.loads(at_work("session", "end", "--json").out)
    assert (ended["kind"], ended["was_over"]) == ("session-end", False)
    assert ended["session"]["endedWhy"] == "ended"
    assert at_work("session", "end").out == "no session goes on at this terminal\n"
    again = at_work("session", "end", str(first["sessionId"]))
    assert (again.status, " was over before: " in again.out) == (0, True)
    at_work(*RECORDS)
    [second] = sessions(at_work)
    assert second["sessionId"] != first["sessionId"]
    assert [each["endedWhy"] for each in sessions(at_work, "--all")] == ["ended", None]
    assert " over " in at_work("session", "list", "--all").out.splitlines()[0]


def test_a_session_whose_process_is_gone_is_over(at_work: CommandLine) -> None:
    """Whoever looks first ends it; it is still kept, and can be named."""
    in_another_login(at_work, *RECORDS)
    assert sessions(at_work) == []
    [gone] = sessions(at_work, "--all")
    assert (gone["endedWhy"], gone["here"]) == ("process_gone", False)
    logged = at_work("audit", "log", "--type", "session.ended", "--quiet")
    assert len(logged.out.splitlines()) == 1


def test_a_session_is_ended_by_its_id(at_work: CommandLine) -> None:
    """From another terminal, too."""
    at_work(*RECORDS)
    [session] = sessions(at_work)
    in_another_login(at_work, "session", "end", str(session["sessionId"]))
    assert sessions(at_work) == []


def test_wrong_usage(at_work: CommandLine) -> None:
    """One clear error each; the bare word shows its page."""
    assert_error(at_work("session", "end", "session-unknown"), Code.ID_UNKNOWN)
    assert_error(at_work("session", "lsit"), Code.USAGE)
    bare = at_work("session")
    assert (bare.status, bare.out) == (2, "")
    assert bare.err.startswith("Usage: consentry session ")
