"""A module's questions at real terminals: what is shown, the three answers, and what comes of them."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.base.values import replace
from consentry.declare.hostdescription import (
    ApprovalLevel,
    ApprovalRule,
    HostDescription,
)
from consentry.service.modulehost import ModuleHost
from consentry.service.staleness import PolicyWatch
from consentry.service.surroundings import look_around
from tests.cli.asking import desk_of, request_of, set_passphrase, status_of
from tests.cli.asking import put as put_consent
from tests.cli.capabilities import without_terminal
from tests.cli.conftest import CommandLine, assert_error
from tests.cli.moduleplaces import (
    HOSTILE,
    asked,
    events,
    granted,
    harmless,
    host_at,
    imported,
    named,
    package,
    told,
)
from tests.cli.terminals import AtTerminal, at_terminal
from tests.cli.tooling import consent_config
from tests.declare.modulesamples import HOST

pytestmark = pytest.mark.timeout(180)

TALL = (110, 60)
KEYS = "s approve for this session | p approve until the module changes | d deny"
ASKING = (sys.executable, str(Path(__file__).with_name("moduleasking.py")))
REPOSITORY = str(Path(__file__).parents[2])


@contextmanager
def asking(line: CommandLine, *actions: str, size: tuple[int, int] = TALL) -> Iterator[AtTerminal]:
    """An application that calls these actions and asks at its terminal."""
    imported(line)
    with at_terminal(line, *actions, program=ASKING, size=size, PYTHONPATH=REPOSITORY) as terminal:
        yield terminal


def outcome(terminal: AtTerminal) -> dict[str, Any]:
    """The last outcome that the application printed."""
    text = terminal.screen[terminal.screen.rindex('{"status"') :].splitlines()[0]
    found: dict[str, Any] = json.loads(text)
    return found


def said_by(terminal: AtTerminal) -> str:
    """The screen in one line, without the marks of rows that go on."""
    return " ".join(terminal.screen.replace("|", "").split())


@pytest.fixture
def application(consentry: CommandLine) -> Iterator[ModuleHost]:
    """A host that runs, with the sample module in it."""
    with host_at(consentry) as made:
        made.import_module(package())
        yield made


def test_the_three_answers_are_offered_where_a_module_asks(consentry: CommandLine) -> None:
    """MODULES §flow-4: facts of ours, the scope and limits, its name in quotes, and three keys."""
    with asking(consentry, "b-list") as terminal:
        shown = terminal.see(KEYS)
        for said in (
            "The module note-tools 1.2.0 in note-board wants a capability:",
            "state.read: read snapshots of the current document",
            "limit: read-only",
            "It calls itself: “Note tools”",
            "For its action: b-list (“List”)",
            "Which calls: notes.list",
            "Package: sha256:",
            "Request: request-",
        ):
            assert said in shown, said
        terminal.answer("", "a")  # a yes that does not say for how long is none
        terminal.see("`a` is no answer here: s approve for this session")
        terminal.answer("", "d")
        assert terminal.ended() == 0, terminal.screen
    assert outcome(terminal)["code"] == "capability-escalation-denied"


@pytest.mark.parametrize(
    ("word", "scope", "reason"),
    [
        ("s", "session", "user-approved-session"),
        ("session", "session", "user-approved-session"),
        ("p", "persistent", "user-approved-persistent"),
        ("P", "persistent", "user-approved-persistent"),
    ],
)
def test_a_yes_is_the_grant_and_the_action_goes_on(
    consentry: CommandLine, word: str, scope: str, reason: str
) -> None:
    """MODULES §decision-1, §decision-2, AC-2: for the session or until the module changes, on record."""
    with asking(consentry, "b-list", "b-list") as terminal:
        terminal.answer(KEYS, word)
        assert terminal.ended() == 0, terminal.screen
    assert outcome(terminal)["status"] == "done"
    assert terminal.screen.count(KEYS) == 1  # the second call asks nobody
    (approved,) = events(consentry, "capability.escalation.approved")
    assert approved["payload"]["decisionReasonCode"] == reason
    (given,) = told(consentry, "grants", "list", "--all")["grants"]
    assert given["scope"] == scope
    # The session ended with the application.
    assert given["state"] == ("session-over" if scope == "session" else "holds")
    used = events(consentry, "module.capability.used")
    assert [each["payload"]["grantId"] for each in used] == [given["grantId"]] * 2


@pytest.mark.parametrize(
    ("keys", "reason"),
    [("d\n", "user-denied"), ("\x03", "user-cancelled"), ("\x04", "user-cancelled")],
)
def test_a_no_and_turning_away_deny(consentry: CommandLine, keys: str, reason: str) -> None:
    """MODULES §decision-3: deny, Ctrl-C and the end of input, each with its reason; nothing is granted."""
    with asking(consentry, "b-list") as terminal:
        terminal.see(KEYS)
        terminal.see("\n> ")
        terminal.type(keys)
        assert terminal.ended() == 0, terminal.screen
    assert outcome(terminal)["code"] == "capability-escalation-denied"
    (denied,) = events(consentry, "capability.escalation.denied")
    payload = denied["payload"]
    assert (payload["decision"], payload["decisionReasonCode"]) == ("denied", reason)
    assert payload["approverIdentity"].startswith("local:")
    assert told(consentry, "grants", "list", "--all")["grants"] == []
    assert events(consentry, "module.capability.used") == []


def test_what_is_kept_has_to_be_seen_whole(consentry: CommandLine) -> None:
    """On a small terminal the last page comes first; a yes before it is none."""
    with asking(consentry, "b-export", size=(60, 14)) as terminal:
        terminal.answer("Enter goes on (1 of", "p")
        terminal.see("see it to its end first")
        terminal.answer("", "s")
        terminal.see("see it to its end first")
        while "Answer by:" not in terminal.screen:
            terminal.answer("", "")
            terminal.see("d deny")
        terminal.answer("", "p")
        terminal.see('{"status"')
        terminal.ended()
    # Both of them are granted; the export then lacks a target, which is another matter.
    assert len(told(consentry, "grants", "list")["grants"]) == 2


@pytest.mark.parametrize("option", ["--session", "--permanent"])
def test_approve_takes_the_span_on_the_line(
    consentry: CommandLine, application: ModuleHost, option: str
) -> None:
    """MODULES §flow-4: one yes is offered, the one that was said; what came of it is told."""
    request_id = asked(application, "state.read", "ui.slot.render")
    with at_terminal(consentry, "approve", request_id, option, size=TALL) as terminal:
        shown = terminal.see("d deny")
        both = ("s approve for this session", "p approve until the module changes")
        assert [each in shown for each in both] == [option == "--session", option == "--permanent"]
        terminal.answer("", "a")
        assert terminal.ended() == 0, terminal.screen
    scope = "session" if option == "--session" else "persistent"
    assert f"granted: state.read  {scope}  grant-" in terminal.screen
    assert f"granted: ui.slot.render  {scope}  grant-" in terminal.screen
    assert application.check("note-tools", ["state.read"]).is_passed


def test_approve_says_before_the_question_what_it_takes(
    consentry: CommandLine, application: ModuleHost
) -> None:
    """No span at all, one time, or another span: refused with what to use, and nothing is shown."""
    request_id = asked(application, "state.read")
    for words in ((), ("--once",), ("--for", "1hour"), ("--for", "1day")):
        with at_terminal(consentry, "approve", request_id, *words, size=TALL) as terminal:
            assert terminal.ended() == 126, terminal.screen
        assert f"error[{Code.ANSWER_REFUSED}]" in terminal.screen
        assert f"consentry approve {request_id} --session, or --permanent" in said_by(terminal)
        assert "d deny" not in terminal.screen
    assert status_of(consentry, request_id) == "pending"


def test_answers_in_json_have_the_grants(consentry: CommandLine, application: ModuleHost) -> None:
    """For a script that follows; another kind of question has none."""
    request_id = asked(application, "state.read")
    with at_terminal(
        consentry, "approve", request_id, "--permanent", "--json", size=TALL
    ) as terminal:
        terminal.answer("d deny", "p")
        assert terminal.ended() == 0, terminal.screen
    document = json.loads(terminal.screen[terminal.screen.index('{\n  "schema_version"') :])
    ((grant,),) = [each["grants"] for each in document["answers"]]
    assert (grant["capabilityId"], grant["requestId"]) == ("state.read", request_id)


def test_deny_by_command(consentry: CommandLine, application: ModuleHost) -> None:
    """From a terminal only, and what came of it is told."""
    request_id = asked(application, "state.read")
    assert_error(without_terminal(consentry)("deny", request_id), Code.TERMINAL_MISSING)
    with at_terminal(consentry, "deny", request_id, "--reason", "no") as terminal:
        assert terminal.ended() == 0, terminal.screen
    assert "nothing is granted" in terminal.screen
    (denied,) = events(consentry, "capability.escalation.denied")
    assert denied["payload"]["decisionReasonCode"] == "user-denied"


def test_a_module_is_approved_by_itself(consentry: CommandLine, application: ModuleHost) -> None:
    """A batch is for tools: what a module asks for has to be seen."""
    consent_config(consentry, "  userPreferences: {allowBatchApproval: true}\n")
    first, second = asked(application, "state.read"), asked(application, "ui.slot.render")
    for words in ((first, second), (first, put_consent(consentry))):
        with at_terminal(consentry, "approve", *words, size=TALL) as terminal:
            assert terminal.ended() == 126, terminal.screen
        assert "(capability) is answered by itself" in said_by(terminal)
    assert [status_of(consentry, each) for each in (first, second)] == ["pending"] * 2


def test_a_passphrase_is_asked_for(consentry: CommandLine, application: ModuleHost) -> None:
    """Where one is set, no module gets anything without it."""
    set_passphrase(consentry)
    request_id = asked(application, "state.read")
    with at_terminal(consentry, "approve", request_id, "--session", size=TALL) as terminal:
        terminal.answer("d deny", "s")
        terminal.answer("passphrase", "correct horse")
        assert terminal.ended() == 0, terminal.screen
    assert application.check("note-tools", ["state.read"]).is_passed


def test_the_inbox_tells_what_a_module_wants(
    consentry: CommandLine, application: ModuleHost
) -> None:
    """In one line: which module, in which host, what; and below it for what, and from where."""
    waiting = application.invoke("note-tools", "b-list")
    text = consentry("inbox").out
    assert f"{waiting.request_id}  may note-tools 1.2.0 in note-board use state.read?\n" in text
    assert "  wanted; for its action “b-list”, “List”\n" in text
    assert "capability of module:note-tools, asked " in text
    (request,) = json.loads(consentry("inbox", "--json").out)["requests"]
    assert request["kind"] == "capability"


def test_a_changed_policy_does_not_end_a_modules_question(
    consentry: CommandLine, application: ModuleHost
) -> None:
    """It was asked under none: whoever looks from a workspace whose policy changed leaves it alone."""
    request_id = asked(application, "state.read")
    before = json.loads(consentry("inbox", "--json").out)["requests"]
    consent_config(consentry, "  userPreferences: {rememberChoices: false}\n")
    after = json.loads(consentry("inbox", "--json").out)["requests"]
    assert [each["requestId"] for each in after] == [each["requestId"] for each in before]
    with desk_of(consentry) as desk:
        watch = PolicyWatch(look_around(consentry.environ), desk.journal)
        request = desk.look(request_id)
        assert request.question.policy_hash is None
        assert watch(request) is False
        other = "sha256:" + "0" * 64
        assert desk.supersede_others(str(consentry.cwd), other) == []  # type: ignore[arg-type]
    assert status_of(consentry, request_id) == "pending"


def test_a_module_that_changed_meanwhile_gets_nothing(
    consentry: CommandLine, application: ModuleHost
) -> None:
    """The question is about the content that was shown: it ends when that is replaced, also while drawn."""
    request_id = asked(application, "state.read")
    with at_terminal(consentry, "approve", request_id, "--permanent", size=TALL) as terminal:
        terminal.see("d deny")
        application.import_module(package(moduleVersion="2.0.0"))
        assert terminal.ended() == 126, terminal.screen
    assert "superseded" in terminal.screen
    assert told(consentry, "grants", "list", "--all")["grants"] == []


def test_hostile_words_do_nothing_to_the_terminal(consentry: CommandLine) -> None:
    """The attack: a module names itself and its actions so that the prompt would say something else."""
    with host_at(consentry) as application:
        application.import_module(named(HOSTILE))
        waiting = application.invoke("note-tools", "b-list")
        assert waiting.request_id is not None
        assert harmless(consentry("inbox").out)
        with at_terminal(
            consentry, "approve", waiting.request_id, "--session", size=(160, 60)
        ) as terminal:
            shown = terminal.see("d deny")
            terminal.answer("", "s")
            assert terminal.ended() == 0, terminal.screen
        assert harmless(shown)
        assert harmless(terminal.screen)
        assert "\\u{1b}" in shown
        rows = shown.splitlines()
        assert sum(row.startswith("It calls itself:") for row in rows) == 1
        assert next(row for row in rows if row).startswith("The module note-tools 1.2.0")


def _board(level: ApprovalLevel) -> HostDescription:
    """The sample host, whose reading command needs approval."""
    rule = ApprovalRule("it looks at all notes", level)
    commands = tuple(
        replace(each, requires_approval=rule) if each.command_id == "notes.list" else each
        for each in HOST.commands
    )
    return HostDescription(HOST.host_id, HOST.app_version, commands, HOST.writable_paths)


@contextmanager
def approving(line: CommandLine, level: ApprovalLevel) -> Iterator[tuple[ModuleHost, str]]:
    """A host whose action waits for the approval of its command, and the id of that question."""
    with host_at(line, _board(level)) as application:
        application.import_module(package())
        granted(application, "state.read")
        waiting = application.invoke("note-tools", "b-list", arguments={"all": True})
        assert waiting.request_id is not None
        yield application, waiting.request_id


def test_a_soft_approval_is_once_or_for_the_session(consentry: CommandLine) -> None:
    """CONTRACTS §12-approval: both are offered where it was not said before; no other span is taken."""
    with approving(consentry, ApprovalLevel.SOFT) as (application, request_id):
        assert "soft approval, because: it looks at all notes" in consentry("inbox").out
        for words in (("--permanent",), ("--for", "1hour")):
            with at_terminal(consentry, "approve", request_id, *words, size=TALL) as terminal:
                assert terminal.ended() == 126, terminal.screen
            assert "is approved once or with --session" in said_by(terminal)
        with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
            shown = terminal.see("a approve once | s approve for this session | d deny")
            assert "is about to call:" in shown
            assert "The reason given: “it looks at all notes”" in shown
            assert 'With: {"all":true}' in shown
            terminal.answer("", "s")
            assert terminal.ended() == 0, terminal.screen
        assert "the host may call it, for the session that asked" in terminal.screen
        assert application.resume(request_id).ok
        assert application.invoke("note-tools", "b-list", arguments={"all": True}).ok


def test_a_hard_approval_is_once(consentry: CommandLine) -> None:
    """CONTRACTS §12-approval: asked every time, for these arguments; a span is refused before it is put."""
    with approving(consentry, ApprovalLevel.HARD) as (application, request_id):
        with at_terminal(consentry, "approve", request_id, "--session", size=TALL) as terminal:
            assert terminal.ended() == 126, terminal.screen
        assert f"error[{Code.ANSWER_REFUSED}]" in terminal.screen
        with at_terminal(consentry, "approve", request_id, size=TALL) as terminal:
            shown = terminal.see("a approve once | d deny")
            assert "asked every time" in shown
            terminal.answer("", "a")
            assert terminal.ended() == 0, terminal.screen
        assert "the host may call it, this once" in terminal.screen
        assert application.resume(request_id).ok
        again = application.invoke("note-tools", "b-list", arguments={"all": True})
        assert again.status == "waiting"
        with at_terminal(consentry, "deny", str(again.request_id), size=TALL) as terminal:
            assert terminal.ended() == 0, terminal.screen
        assert "the host does not call it" in terminal.screen


def test_what_cannot_be_read_can_still_be_denied(
    consentry: CommandLine, application: ModuleHost
) -> None:
    """A row that somebody changed: it hides no other in the inbox, a yes is refused, a no is taken."""
    request_id = asked(application, "state.read")
    with desk_of(consentry) as desk, desk.journal.database.writing() as transaction:
        transaction.run("UPDATE approval_request SET preview = '[1]'")
    assert consentry("inbox").status == 0
    with at_terminal(consentry, "approve", request_id, "--session", size=TALL) as terminal:
        assert terminal.ended() == 3, terminal.screen
    with at_terminal(consentry, "deny", request_id, size=TALL) as terminal:
        assert terminal.ended() == 0, terminal.screen
    assert request_of(consentry, request_id).status == "denied"
