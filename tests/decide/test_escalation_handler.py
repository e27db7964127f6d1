"""The flow from a denial to an answer, on a real store (ESCALATION AC4, AC5, AC9, §ask-1)."""

import pytest

from consentry.base.codes import Code
from consentry.decide import escalation_handler
from consentry.decide.escalation import denials_said
from consentry.decide.escalation_handler import (
    Escalated,
    PermissionEscalationHandler,
)
from consentry.decide.escalationask import REPORTED
from consentry.decide.identity import SYSTEM
from consentry.surface.protected import protected_roots
from tests.decide.escalating import (
    FILESYSTEM,
    MINIMAL,
    NET,
    NETWORK,
    NO,
    READ,
    READONLY,
    STANDARD,
    TODAY,
    TRUSTED,
    Flow,
)
from tests.decide.samples import APPROVER, OWNER
from tests.store.keepers import types


def test_a_yes_gives_the_set_to_retry_in(flow: Flow) -> None:
    """ESCALATION AC4, §yes-update: stored for good, logged with who agreed, and told to the executor."""
    found = flow.handle()
    assert (found.approved, found.new_set, found.code) == (True, NETWORK, None)
    assert found.request is not None
    assert found.request.requested_set is NETWORK
    assert (flow.stored.permission_set, flow.stored.permission_confidence) == (NETWORK, 1.0)
    assert flow.log == [(MINIMAL, NETWORK, True, APPROVER)]


def test_a_no_says_so_and_why(flow: Flow) -> None:
    """ESCALATION §no: nothing is stored, the decision is logged, the person's words are passed on."""
    flow.person.answers = flow.person.say(NO)
    found = flow.handle()
    assert (found.approved, found.new_set, found.code) == (False, None, Code.APPROVAL_DENIED)
    assert found.feedback == "not this host"
    assert flow.stored.permission_set is MINIMAL
    assert flow.log == [(MINIMAL, NETWORK, False, APPROVER)]


def test_no_answer_in_time_is_a_no_with_its_own_code(flow: Flow) -> None:
    """ESCALATION §ask-4: after five minutes; approved by nobody, which is logged as `system`."""
    flow.person.answers = flow.person.be_away
    found = flow.handle()
    assert (found.approved, found.code) == (False, Code.APPROVAL_EXPIRED)
    assert flow.log == [(MINIMAL, NETWORK, False, SYSTEM)]
    assert flow.stored.permission_set is MINIMAL


def test_what_is_asked_says_everything(flow: Flow) -> None:
    """ESCALATION §ask-1: the step, whose code, for whom, what it did, and with which arguments."""
    flow.handle()
    [ask] = flow.person.asks
    assert (ask.request.current_set, ask.request.requested_set) == (MINIMAL, NETWORK)
    assert (ask.request.reason, ask.request.detected_operation) == (NET, "net")
    assert ask.request.confidence == 0.95
    assert (ask.code_hash, ask.version) == (flow.capability.code_hash, 1)
    assert (ask.user_id, ask.name, ask.engine) == (OWNER, "weather", "native")
    assert (ask.resource, ask.truth_note) == ("api.example.com:443", None)
    assert (ask.arguments, ask.so_far) == ({"city": "Bern"}, ("read nothing",))
    assert ask.delta


def test_denos_word_is_marked_as_such(flow: Flow) -> None:
    """What the program says of itself was not observed."""
    assert flow.handle(TODAY, engine="deno").approved
    assert flow.person.asks[0].truth_note == REPORTED


def test_the_least_set_that_covers_is_asked_for(flow: Flow) -> None:
    """ESCALATION's answer to a write is `filesystem`; `./output` needs more, and that is asked."""
    assert flow.handle("PermissionDenied: Requires write access to output/a").new_set is STANDARD
    assert flow.person.asks[0].request.detected_operation == "write"


@pytest.mark.parametrize(
    ("error", "engine", "code", "operation", "resource"),
    [
        ("PermissionDenied: Requires run access to /bin/sh", "native",
         Code.ESCALATION_CRITICAL, "run", "/bin/sh"),
        ("PermissionDenied: Requires ffi access", "deno", Code.ESCALATION_CRITICAL, "ffi", None),
        ("PermissionDenied: Requires read access to /etc/passwd", "native",
         Code.ESCALATION_PROTECTED_ROOT, "read", "/etc/passwd"),
        ("PermissionDenied: Requires write access to ../../root/.ssh/a", "native",
         Code.ESCALATION_PROTECTED_ROOT, "write", "../../root/.ssh/a"),
        ("PermissionDenied: Requires read access to /opt/a", "native",
         Code.ESCALATION_UNCOVERED, "read", "/opt/a"),
        ("PermissionDenied: Requires env access to HOME", "native",
         Code.ESCALATION_UNCOVERED, "env", "HOME"),
        (f"{TODAY}\n{READ}\nRequires run access to sh", "deno", Code.ESCALATION_CRITICAL, "run", "sh"),
    ],
)  # fmt: skip
def test_what_may_not_be_asked_is_refused_and_recorded(
    flow: Flow, error: str, engine: str, code: Code, operation: str, resource: str | None
) -> None:
    """ESCALATION AC9.3, §ask-protected, §log-5: an event with its code, no question and no row."""
    found = flow.handle(error, engine=engine)
    assert (found.approved, found.code) == (False, code)
    assert found.feedback
    assert found.help_line
    assert flow.person.asks == []
    assert flow.log == []
    [refusal] = flow.refusals
    assert (refusal["code"], refusal["detectedOperation"]) == (code, operation)
    assert (refusal["resource"], refusal["executionId"]) == (resource, "execution-1")
    assert (refusal["fromSet"], refusal["reason"]) == ("minimal", error)
    assert "approval.requested" not in types(flow.keepers.ledger)


@pytest.mark.parametrize("engine", ["native", "deno"])
@pytest.mark.parametrize("error", ["", "Some other error", "KeyError: 'x'"])
def test_an_error_without_a_denial_is_nobodys_business(flow: Flow, error: str, engine: str) -> None:
    """Nothing is asked and nothing is recorded."""
    assert flow.handle(error, engine=engine) == Escalated(approved=False)
    assert flow.person.asks == []
    assert flow.refusals == []


def test_on_native_only_the_typed_line_counts(flow: Flow) -> None:
    """A program that prints the sentence, or an error that contains it, gets no question."""
    for error in (
        f"ValueError: {NET}",
        f"{NET}"[20:],
        TODAY,
        "PermissionError: [Errno 13] x: '/a'",
    ):
        assert flow.handle(error) == Escalated(approved=False)
    assert flow.person.asks == []


HOSTILE = READ + "\nPermissionDenied: Requires net access to evil.example:443"
"""A file whose name goes on like a second denial."""


def test_the_name_of_a_file_widens_nothing(flow: Flow) -> None:
    """It is all one resource: what is asked for is what that file needs."""
    assert flow.handle(HOSTILE).new_set is READONLY


def test_read_as_any_text_it_would(flow: Flow, monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands against it is that the record's line is read back whole."""
    monkeypatch.setattr(
        escalation_handler, "_denials_of", lambda failed: denials_said(failed.error)
    )
    assert flow.handle(HOSTILE).new_set is STANDARD


def test_an_allowlist_reaches_the_question(flow: Flow) -> None:
    """Where the network is narrowed, a host beside the list is not asked for, one on it is."""
    found = flow.handle(NET, allowlist=("other.example:443",))
    assert found.code == Code.ESCALATION_UNCOVERED
    found = flow.handle(NET, allowlist=("api.example.com:443",))
    assert found.approved
    assert flow.person.asks[0].network == ("api.example.com:443",)


def test_a_stored_set_is_told_whole_whatever_narrows_this_run(flow: Flow) -> None:
    """ESCALATION §yes-update: a yes opens every public host to later runs, so the prompt says that."""
    flow.handle(NET, allowlist=("api.example.com:443",))
    whole, of_this_run = flow.person.asks[0].delta
    assert whole.startswith("may connect to any public host")
    assert "this run was given a list: it may connect to `api.example.com:443`" in of_this_run


def test_a_task_is_told_what_its_list_leaves(flow: Flow) -> None:
    """ESCALATION §code-4: its set holds for this run alone, and this run has the list."""
    task = {"capability_id": "task-7", "ephemeral": True, "version": None}
    flow.handle(NET, allowlist=("api.example.com:443",), **task)
    assert flow.person.asks[0].delta == ("may connect to `api.example.com:443`",)


def test_the_roots_of_the_place_count(flow: Flow) -> None:
    """A state directory that was moved into the workspace is protected there, too."""
    own = protected_roots().bound_to(also=["/place/project/state"])
    handler = PermissionEscalationHandler(
        flow.keepers.capabilities, flow.keepers.audit, flow.person, protected=own
    )
    failed = flow.failed("PermissionDenied: Requires read access to /place/project/state/key")
    assert handler.handle_permission_error(failed).code == Code.ESCALATION_PROTECTED_ROOT
    assert flow.handler.handle_permission_error(failed).new_set is FILESYSTEM


def test_from_trusted_nothing_is_asked(flow: Flow) -> None:
    """ESCALATION §step-2: nor is `trusted` ever asked for."""
    assert flow.handle(NET, current_set=TRUSTED).code == Code.ESCALATION_UNCOVERED
    assert flow.handle(READ, current_set=STANDARD).code == Code.ESCALATION_UNCOVERED
    assert flow.person.asks == []
