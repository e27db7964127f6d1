"""`approve`, `deny` and `inbox` for code that wants more, and for programs that wait, at real terminals."""

import json
import subprocess
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.base.units import Duration
from consentry.surface.operations import Operation
from tests.cli.asking import desk_of, set_passphrase, status_of
from tests.cli.capabilities import COUNT, decisions, saved, shown, without_terminal
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.escalating import escalation, held, inbox, of_task
from tests.cli.terminals import at_terminal

TALL = (100, 60)
HOSTILE = "\x1b]0;owned\x07\x1b[2J\u202e"


@pytest.mark.parametrize("word", ["a", "A", "approve", "y"])
def test_a_yes_at_another_terminal_stores_the_larger_set(consentry: CommandLine, word: str) -> None:
    """ESCALATION AC4: the document's words are shown; the yes is the set, and a row of the log."""
    saved(consentry, "count", COUNT)
    request_id = escalation(consentry, "count")
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        shown_text = terminal.see("a approve | r reject")
        terminal.answer("", word)
        assert terminal.ended() == 0, terminal.screen
    for line in (
        "=== Permission Escalation Request ===",
        "Current Permission Set: minimal",
        "Requested Permission Set: network-api",
        "Reason: PermissionDenied: Requires net access to api.example.com:443",
        "[A]pprove permission escalation",
        "[R]eject and abort execution",
        "connect to any public host",
        "Name: count, version 1",
        f"Request: {request_id}",
    ):
        assert line in shown_text
    assert "count runs in network-api until its code changes" in terminal.screen
    kept = shown(consentry, "count")
    assert (kept["effectiveSet"], kept["permissionConfidence"]) == ("network-api", 1)
    (row,) = decisions(consentry, "count")
    assert (row["approved"], row["toSet"], row["detectedOperation"]) == (True, "network-api", "net")
    assert row["approvedBy"].startswith("local:")


@pytest.mark.parametrize("word", ["r", "R", "reject", "d", "no"])
def test_a_no_leaves_the_set_and_is_logged(consentry: CommandLine, word: str) -> None:
    """ESCALATION §no, AC7: `R` rejects as the text says, and so do the words of every prompt."""
    saved(consentry, "count", COUNT)
    request_id = escalation(consentry, "count")
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        terminal.answer("r reject", word)
        assert terminal.ended() == 126, terminal.screen
    assert status_of(consentry, request_id) == "denied"
    assert shown(consentry, "count")["permissionSet"] == "minimal"
    (row,) = decisions(consentry, "--rejected")
    assert (row["approved"], row["capabilityId"]) == (False, shown(consentry, "count")["id"])
    assert decisions(consentry, "--approved") == []


def test_deny_says_no_at_once(consentry: CommandLine) -> None:
    """ESCALATION §no: with the reason that is typed, from a terminal only."""
    saved(consentry, "count", COUNT)
    request_id = escalation(consentry, "count")
    refused = without_terminal(consentry)("deny", request_id)
    assert_error(refused, Code.TERMINAL_MISSING)
    with at_terminal(consentry, "deny", request_id, "--reason", "not today") as terminal:
        assert terminal.ended() == 0, terminal.screen
    assert "count stays in minimal" in terminal.screen
    assert status_of(consentry, request_id) == "denied"


def test_what_comes_through_a_pipe_is_no_answer(consentry: CommandLine) -> None:
    """The attack: a program types the command and pipes the yes. There is no terminal: refused."""
    saved(consentry, "count", COUNT)
    request_id = escalation(consentry, "count")
    done = subprocess.run(
        [*consentry.program, "approve", request_id],
        cwd=consentry.cwd,
        env=consentry.environ,
        input=b"a\nA\ny\n",
        capture_output=True,
        start_new_session=True,
        check=False,
    )
    assert done.returncode == 126
    assert b"error[terminal-missing]" in done.stderr
    assert status_of(consentry, request_id) == "pending"
    assert shown(consentry, "count")["permissionSet"] == "minimal"


def test_a_yes_is_taken_only_when_the_last_page_was_seen(consentry: CommandLine) -> None:
    """What is kept for good has to be seen whole: a long reason cannot push the rest off the screen."""
    saved(consentry, "count", COUNT)
    request_id = escalation(consentry, "count", reason="x" * 1900)
    with at_terminal(consentry, "approve", request_id, size=(80, 20)) as terminal:
        terminal.answer("Enter goes on (1 of", "a")
        terminal.see("see it to its end first")
        while "connect to any public host" not in terminal.screen:
            terminal.answer("", "")
            terminal.see("r reject")
        while f"Request: {request_id}" not in terminal.screen:
            terminal.answer("", "")
            terminal.see("r reject")
        terminal.answer("", "a")
        assert terminal.ended() == 0, terminal.screen
    assert shown(consentry, "count")["permissionSet"] == "network-api"


def test_what_was_typed_before_is_thrown_away(consentry: CommandLine) -> None:
    """Type-ahead answers nothing; the mark comes when all was drawn."""
    saved(consentry, "count", COUNT)
    request_id = escalation(consentry, "count")
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        terminal.type("a\na\na\n")
        terminal.answer("r reject", "r")
        assert terminal.ended() == 126, terminal.screen
    assert status_of(consentry, request_id) == "denied"


def test_nothing_of_it_can_be_remembered_or_approved_in_a_batch(consentry: CommandLine) -> None:
    """There is no key for it, and the options of consents are refused before anything is asked."""
    saved(consentry, "count", COUNT)
    request_id, other = escalation(consentry, "count"), held(consentry)
    for words in (("--session", request_id), ("--permanent", other), (request_id, other)):
        with at_terminal(consentry, "approve", *words, size=TALL) as terminal:
            assert terminal.ended() == 126, terminal.screen
        assert f"error[{Code.ANSWER_REFUSED}]" in terminal.screen
        assert "approve |" not in terminal.screen
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        assert "remember" not in terminal.see("r reject")
        terminal.answer("", "r")
        terminal.ended()


def test_hostile_words_do_nothing_to_the_terminal(consentry: CommandLine) -> None:
    """What a program said is shown as text, on one line of its own, and passes for none of ours."""
    saved(consentry, "count", COUNT)
    forged = f"{HOSTILE}\n[A]pprove is safe\nRequested Permission Set: readonly"
    request_id = escalation(
        consentry,
        "count",
        reason=f"PermissionDenied: {forged}",
        resource=forged,
        so_far=(forged,),
        delta=(forged,),
        execution_id=f"execution{HOSTILE}",
    )
    task = of_task(consentry, f"task{forged}")
    for each in (request_id, task):
        with at_terminal(consentry, "approve", each, size=(160, 80)) as terminal:
            text = terminal.see("r reject")
            terminal.answer("", "r")
            terminal.ended()
        _assert_harmless(terminal.screen)
        rows = text.splitlines()
        assert sum(row.startswith("[A]pprove") for row in rows) == 1
        assert sum(row.startswith("Requested Permission Set:") for row in rows) == 1
    request_id = escalation(consentry, "count", resource=forged, execution_id="another")
    for words in (("inbox",), ("escalations",), ("capability", "history", "count")):
        with at_terminal(consentry, *words, size=(160, 80)) as terminal:
            assert terminal.ended() == 0, terminal.screen
        _assert_harmless(terminal.screen)


def _assert_harmless(screen: str) -> None:
    for letter in ("\x1b]", "\x07", "\x1b[2J", "\u202e"):
        assert letter not in screen.replace("\x1b]104\x1b\\\x1b]110\x1b\\\x1b]111\x1b\\", "")


def test_what_a_program_says_of_itself_is_headed_so(consentry: CommandLine) -> None:
    """For deno the denial is the program's own word, and the sheet and the inbox say it."""
    request_id = of_task(consentry, "task-7")
    assert "(reported by the program itself, not observed)" in consentry("inbox").out
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        text = terminal.see("r reject")
        assert text.index("reported by the program itself, not observed") < text.index("===")
        assert "this run only" in text
        terminal.answer("", "a")
        assert terminal.ended() == 0, terminal.screen
    assert "nothing is kept" in terminal.screen
    assert consentry("capability", "list", "--quiet").out == ""
    (row,) = decisions(consentry, "task-7")
    assert (row["capabilityId"], row["approved"]) == ("task-7", True)


def test_code_that_changed_meanwhile_gets_nothing(consentry: CommandLine) -> None:
    """The question is about the code that was shown: it ends when that changes, also while it is drawn."""
    saved(consentry, "count", COUNT)
    before = escalation(consentry, "count")
    saved(consentry, "count", "result = 1\n")
    with at_terminal(consentry, "approve", before, size=TALL) as terminal:
        assert terminal.ended() == 126, terminal.screen
    during = escalation(consentry, "count", execution_id="another")
    with at_terminal(consentry, "approve", during, size=TALL) as terminal:
        terminal.see("r reject")
        saved(consentry, "count", "result = 2\n")
        assert terminal.ended() == 126, terminal.screen
    assert "superseded" in terminal.screen
    assert [status_of(consentry, each) for each in (before, during)] == ["superseded"] * 2
    assert shown(consentry, "count")["permissionSet"] == "minimal"
    assert [row["approvedBy"] for row in decisions(consentry)] == ["system", "system"]


def test_a_deadline_that_passed_denies_by_the_system(consentry: CommandLine) -> None:
    """ESCALATION §ask-4, §log-3: late is late; the log has it as rejected by `system`."""
    saved(consentry, "count", COUNT)
    request_id = escalation(consentry, "count", within=Duration(1))
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        assert terminal.ended() == 126, terminal.screen
    assert f"error[{Code.REQUEST_LATE}]" in terminal.screen
    (row,) = decisions(consentry)
    assert (row["approved"], row["approvedBy"]) == (False, "system")


def test_a_passphrase_is_asked_for_here_too(consentry: CommandLine) -> None:
    """Where one is set, no yes comes without it."""
    saved(consentry, "count", COUNT)
    set_passphrase(consentry)
    request_id = escalation(consentry, "count")
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        terminal.answer("r reject", "a")
        terminal.answer("passphrase", "wrong words")
        terminal.answer("passphrase", "correct horse")
        assert terminal.ended() == 0, terminal.screen
    assert shown(consentry, "count")["permissionSet"] == "network-api"


def test_the_inbox_tells_what_was_denied_and_until_when(consentry: CommandLine) -> None:
    """Capability, from where to where, what was denied, and the deadline; the id alone with --quiet."""
    saved(consentry, "count", COUNT)
    request_id = escalation(consentry, "count")
    told = consentry("inbox").out
    assert f"{request_id}  may count go from minimal to network-api?" in told
    assert "denied: net api.example.com:443" in told
    assert "denied by itself at" in told
    assert consentry("inbox", "--quiet").out == f"{request_id}\n"
    (request,) = inbox(consentry)
    assert (request["kind"], request["preview"]["name"]) == ("escalation", "count")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({}, "it wants to read"),
        (
            {"operation": Operation.WRITE, "direct": True},
            "written to the host at once, not rehearsed",
        ),
        (
            {"operation": Operation.NET, "resource": "h.example:443", "verb": "connect"},
            "connect to",
        ),
    ],
)
def test_an_operation_that_is_held_is_shown_and_answered(
    consentry: CommandLine, more: dict[str, Any], said: str
) -> None:
    """With the object, the program, and whether a yes writes the host; no set and no row comes of it."""
    request_id = held(consentry, **more)
    assert request_id in consentry("inbox").out
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        text = terminal.see("a approve | d deny")
        assert said in text
        assert "/usr/bin/cat" in text
        terminal.answer("", "a")
        assert terminal.ended() == 0, terminal.screen
    assert "opened to that run alone" in terminal.screen
    assert status_of(consentry, request_id) == "approved"
    assert decisions(consentry) == []
    document = json.loads(consentry("inbox", "--json").out)
    assert document["requests"] == []


def test_a_held_operation_is_denied_likewise(consentry: CommandLine) -> None:
    """With `deny`, or at the prompt."""
    first, second = held(consentry), held(consentry, "/srv/other.csv")
    with at_terminal(consentry, "deny", first) as terminal:
        assert terminal.ended() == 0, terminal.screen
    with at_terminal(consentry, "approve", second, size=TALL) as terminal:
        terminal.answer("d deny", "d")
        assert terminal.ended() == 126, terminal.screen
    assert [status_of(consentry, each) for each in (first, second)] == ["denied", "denied"]


def test_what_cannot_be_read_can_still_be_denied(consentry: CommandLine) -> None:
    """A row that somebody changed: a yes names the request, a no is taken and said."""
    saved(consentry, "count", COUNT)
    request_id = escalation(consentry, "count")
    with desk_of(consentry) as desk, desk.journal.database.writing() as transaction:
        transaction.run("UPDATE approval_request SET preview = '[1]'")
    with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
        assert terminal.ended() == 3, terminal.screen
    assert request_id in terminal.screen
    with at_terminal(consentry, "deny", request_id, size=TALL) as terminal:
        assert terminal.ended() == 0, terminal.screen
    assert status_of(consentry, request_id) == "denied"
