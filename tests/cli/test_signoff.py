"""`consentry signoff` and `consentry signoff resolve` in real processes, on either database."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from tests.cli.asking import set_passphrase
from tests.cli.capabilities import without_terminal
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.signoffplaces import ASKED, recorded
from tests.cli.terminals import at_terminal
from tests.record.payloads import sample_id
from tests.record.signoffsamples import DRILL, Story, good_story

CAUSE = ("--root-cause", "a path was not checked", "--corrective-action", "checked since 1.2.1")


@pytest.fixture(params=["sqlite", "postgresql"])
def line(request: pytest.FixtureRequest, consentry: CommandLine) -> CommandLine:
    """The command with a ledger of each kind."""
    if request.param == "postgresql":
        consentry.environ["CONSENTRY_STORE"] = request.getfixturevalue("postgres_url")
    return consentry


def document(line: CommandLine, *words: str) -> dict[str, Any]:
    """The answer as JSON; its status says the same as its verdict."""
    ended = line("signoff", *ASKED, "--json", *words)
    found: dict[str, Any] = json.loads(ended.out)
    assert ended.status == (0 if found["verdict"] == "GO" else 1), ended.err
    return found


def test_go_is_status_zero(line: CommandLine) -> None:
    """CONTRACTS §4-signoff, §11-1: with every figure and floor in the terminal."""
    recorded(line, good_story())
    ended = line("signoff", *ASKED)
    assert (ended.status, ended.err) == (0, "")
    first, *rest = ended.out.splitlines()
    assert first.startswith("GO  from 2026-01-01 00:00:00")
    assert first.endswith(", 295 events")
    assert "  met      H-SLO-4       100 %  (40 of 40), required >= 99.5 %, also of real use alone, and no FAILED_TERMINAL" in rest  # fmt: skip
    assert "  reached  module sessions: 30 of 30, 20 of fixtures" in rest
    assert "Why NO-GO" not in rest
    assert line("signoff", *ASKED, "--quiet").out == "GO\n"


def test_no_go_is_status_one_and_says_why(line: CommandLine) -> None:
    """CONTRACTS §4-signoff, §11-1: with the events behind it, in text and in JSON."""
    story = good_story()
    event_id = story.used(99, capabilityId="ui.slot.render", tags={**DRILL, "drillId": None})
    recorded(line, story)
    ended = line("signoff", *ASKED)
    assert ended.status == 1
    reasons = ended.out.partition("Why NO-GO\n")[2]
    assert reasons == "  S000-APPROVAL is missed\n  1 failure of integrity\n"
    assert f"  missing-tag: {event_id}: " in ended.out
    quiet = line("signoff", *ASKED, "--quiet")
    assert (quiet.status, quiet.out) == (1, "NO-GO\n")
    found = document(line)
    assert (found["schema_version"], found["kind"], found["schemaVersion"]) == (1, "signoff", "signoff/v1")  # fmt: skip
    gate = next(each for each in found["gates"] if each["id"] == "S000-APPROVAL")
    assert (gate["numerator"], gate["denominator"], gate["status"]) == (20, 21, "missed")
    assert gate["events"][0]["eventId"] == event_id
    [failure] = found["integrity"]
    assert (failure["eventId"], failure["tags"]) == (event_id, ["drillId"])


def test_the_same_ledger_and_end_give_the_same_bytes(line: CommandLine) -> None:
    """CONTRACTS §4-signoff: asked twice, by two processes, with more recorded in between."""
    recorded(line, good_story())
    first = line("signoff", *ASKED, "--json").out
    assert line("session", "list").status == 0
    assert line("signoff", *ASKED, "--json").out == first


def test_a_violation_is_resolved_once(line: CommandLine) -> None:
    """CONTRACTS §4-s-slo-3: a NO-GO until root cause and corrective action are on record."""
    story = good_story()
    violation = story.rejected()
    recorded(line, story)
    standing = line("signoff", *ASKED)
    assert standing.status == 1
    assert f"  {violation}  not resolved" in standing.out
    done = line("signoff", "resolve", violation, *CAUSE)
    assert (done.status, done.err) == (0, "")
    assert done.out.startswith(f"{violation} is resolved, by event-")
    found = document(line)
    assert found["verdict"] == "GO"
    [resolution] = found["resolutions"]
    assert (resolution["rootCause"], resolution["correctiveAction"]) == (CAUSE[1], CAUSE[3])
    again = line("signoff", "resolve", violation, *CAUSE)
    assert_error(again, Code.SIGNOFF_RESOLVED)
    assert resolution["eventId"] in again.err
    shown = json.loads(line("audit", "show", resolution["eventId"], "--json").out)
    assert "signoff.resolved" in json.dumps(shown)


def test_resolving_is_told_as_json_and_as_an_id(consentry: CommandLine) -> None:
    """For scripts."""
    story = Story()
    first, second = story.rejected(), story.rejected("capability.rollback.failed")
    recorded(consentry, story)
    told = json.loads(consentry("signoff", "resolve", first, *CAUSE, "--json").out)
    assert (told["kind"], told["violationEventId"]) == ("signoff-resolve", first)
    quiet = consentry("signoff", "resolve", second, *CAUSE, "--quiet").out
    assert quiet.startswith("event-")
    assert len(quiet.split()) == 1


def test_what_is_no_violation_of_real_use_is_refused(consentry: CommandLine) -> None:
    """CONTRACTS §4-s-slo-3: each with one error; nothing is recorded."""
    story = Story()
    cases = (
        (story.rejected(tags=DRILL), Code.SIGNOFF_EVENT),
        (story.approved(), Code.SIGNOFF_EVENT),
        (sample_id("event", 999), Code.EVENT_UNKNOWN),
        ("event-\x1b[2J", Code.EVENT_UNKNOWN),
    )
    recorded(consentry, story)
    for event_id, code in cases:
        ended = consentry("signoff", "resolve", event_id, *CAUSE)
        assert_error(ended, code)
        assert "\x1b" not in ended.err
    real = story.rejected()
    assert_error(consentry("signoff", "resolve", real, "--root-cause", "x"), Code.USAGE)
    log = consentry("audit", "log", "--type", "signoff.resolved", "--json").out
    assert "violationEventId" not in log


def test_a_passphrase_guards_a_resolution(consentry: CommandLine) -> None:
    """It turns a NO-GO into a GO, so a program that only has the command cannot do it."""
    story = Story()
    violation = story.rejected()
    recorded(consentry, story)
    set_passphrase(consentry)
    words = ("signoff", "resolve", violation, *CAUSE)
    assert_error(without_terminal(consentry)(*words), Code.TERMINAL_MISSING)
    with at_terminal(consentry, *words) as terminal:
        terminal.answer("passphrase, for resolving a violation", "wrong words")
        assert terminal.ended() == 126, terminal.screen
    assert document(consentry)["violations"][0]["resolution"] is None
    with at_terminal(consentry, *words) as terminal:
        terminal.answer("passphrase, for resolving a violation", "correct horse")
        assert terminal.ended() == 0, terminal.screen
    assert document(consentry)["violations"][0]["resolution"] is not None


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--window", "7"), Code.USAGE),
        (("--window", "0d"), Code.USAGE),
        (("--until", "soon"), Code.TIMESTAMP),
        (("--until", "2999-01-01T00:00:00Z"), Code.USAGE),
        (("report",), Code.USAGE),
        (("--window", "1d", "resolve", "event-1", *CAUSE), Code.USAGE),
        (("resolve",), Code.USAGE),
    ],
)
def test_wrong_usage_is_told(consentry: CommandLine, words: tuple[str, ...], code: Code) -> None:
    """One error, in the documented form, and no verdict."""
    assert_error(consentry("signoff", *words), code)


def test_without_a_ledger_it_is_a_no_go(consentry: CommandLine) -> None:
    """CONTRACTS §4-unknown: nothing is known, and nothing is made by asking."""
    ended = consentry("signoff")
    assert (ended.status, ended.err) == (1, "nothing was recorded here yet\n")
    assert ended.out.startswith("NO-GO  from ")
    assert "  unknown  H-KPI-1       unknown  (no sample), required 100 %" in ended.out
    assert not list(Path(consentry.environ["HOME"]).rglob("ledger.db"))


def test_a_page_is_a_new_file_of_its_owner(consentry: CommandLine) -> None:
    """Beside the answer, whatever form that has; a file that is there is never overwritten."""
    recorded(consentry, good_story())
    ended = consentry("signoff", *ASKED, "--html", "signoff.html")
    assert (ended.status, ended.err) == (0, "the page is in signoff.html\n")
    file = consentry.cwd / "signoff.html"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    text = file.read_text()
    assert text.startswith("<!doctype html>")
    assert_error(consentry("signoff", *ASKED, "--html", "signoff.html"), Code.FILE_UNUSABLE)
    found = document(consentry, "--html", "again.html")
    assert found["verdict"] == "GO"
    assert (consentry.cwd / "again.html").read_text() == text


def test_a_tampered_ledger_is_a_no_go(consentry: CommandLine) -> None:
    """CONTRACTS §4-signoff: it is answered, and the first event that is not as it was is named."""
    recorded(consentry, good_story())
    database = next(Path(consentry.environ["HOME"]).rglob("ledger.db"))
    change = "UPDATE ledger_event SET body = replace(body, 'outline', 'outlime') WHERE seq = 5"
    done = consentry.in_shell(
        f"python3 -c \"import sqlite3; c = sqlite3.connect('{database}'); "
        f'c.execute(\\"{change}\\"); c.commit()"'
    )
    assert done.status == 0, done.err
    found = document(consentry)
    assert [each["kind"] for each in found["integrity"]] == ["chain"]
    assert "was changed" in found["integrity"][0]["why"]
    assert found["integrity"][0]["seq"] == 5


def test_what_modules_call_themselves_does_nothing_to_a_terminal(consentry: CommandLine) -> None:
    """The attack: a name that retitles and wipes the terminal and turns text round."""
    story = good_story()
    name = "\x1b]0;owned\x07\x1b[2J\u202eeslaf\nGO  from now on"
    story.rejected(moduleId=name)
    story.attempt(name, tags={**DRILL, "drillId": None})
    recorded(consentry, story)
    out = consentry("signoff", *ASKED, "--verbose").out
    assert "\\u{1b}]0;owned" in out
    assert not any(letter in out for letter in "\x1b\x07\u202e")
    assert "\nGO" not in out
