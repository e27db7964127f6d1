"""How a request for a larger set ends: its answer, its row and its set, together (ESCALATION AC4, AC7)."""

from collections.abc import Callable

import pytest

from consentry.base.clock import ManualClock
from consentry.base.errors import BadInput, ConsentryError
from consentry.base.units import Duration
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilities import Inferred, determine_permission_set
from consentry.decide.identity import SYSTEM, Role
from consentry.decide.lasting import Lasts
from consentry.decide.question import Answer, Outcome, RequestKind
from consentry.store import escalations
from consentry.store.ledger import Ledger
from consentry.surface.permission_sets import PermissionSet
from tests.decide.samples import APPROVER, DIGEST, MINUTE, NOW, OWNER, answer, question
from tests.store.conftest import Store
from tests.store.escalating import (
    DENIED,
    FIVE_MINUTES,
    MINIMAL,
    NET,
    ask_of,
    asked,
    now_of,
    saved,
    task_ask,
)
from tests.store.keepers import Keepers, all_rows, events, pass_time, types

NO = answer(Outcome.DENIED, APPROVER, role=Role.APPROVER, reason="not this host")


@pytest.fixture
def keepers(ledger: Ledger) -> Keepers:
    """Everything that keeps, on a clock that moves when told to."""
    return Keepers(ledger, ManualClock(NOW))


def refused(keepers: Keepers, request: ApprovalRequest, given: Answer) -> str:
    """The code with which the answer is not taken."""
    with pytest.raises(ConsentryError) as caught:
        keepers.requests.answer(request.request_id, given)
    return str(caught.value.code)


def status(keepers: Keepers, request: ApprovalRequest) -> str:
    """How the request stands."""
    found = keepers.requests.find(request.request_id)
    assert found is not None
    return found.status


def test_a_yes_updates_the_set_and_leaves_its_trail(keepers: Keepers) -> None:
    """ESCALATION AC4: for good, in `workflow_pattern`; who, when, from and to are in the log."""
    capability = saved(keepers)
    request = asked(keepers, ask_of(capability))
    pass_time(keepers, MINUTE)
    keepers.requests.answer(request.request_id, answer(by=APPROVER, role=Role.APPROVER))
    after = now_of(keepers, capability)
    assert (after.permission_set, after.permission_confidence) == (NET, 1.0)
    assert (after.version, after.code_hash) == (capability.version, capability.code_hash)
    assert after.updated_at == NOW.plus(MINUTE)
    [entry] = keepers.audit.get_audit_log(capability.capability_id)
    assert (entry.from_set, entry.to_set) == (MINIMAL, NET)
    assert (entry.approved, entry.approved_by) == (True, APPROVER)
    assert (entry.reason, entry.detected_operation) == (DENIED, "net")
    assert entry.timestamp == NOW.plus(MINUTE)


def test_the_answer_the_decision_and_the_set_are_recorded_together(keepers: Keepers) -> None:
    """ESCALATION §yes-update, §yes-trail: three events side by side, by the one who answered."""
    capability = saved(keepers)
    request = asked(keepers, ask_of(capability))
    keepers.requests.answer(request.request_id, answer(by=APPROVER, role=Role.APPROVER))
    *_, answered, decided, updated = events(keepers.ledger)
    assert [each["type"] for each in (answered, decided, updated)] == [
        "approval.answered",
        "permission.escalation.decided",
        "workflow.pattern.saved",
    ]
    assert {each["actor"] for each in (answered, decided, updated)} == {APPROVER}
    assert {each["subject"] for each in (answered, decided, updated)} == {capability.subject}
    named = (decided["payload"]["requestId"], decided["payload"]["executionId"])
    assert named == (request.request_id, "execution-1")
    assert updated["payload"]["permissionSet"] == "network-api"


def test_a_no_is_logged_and_changes_nothing(keepers: Keepers) -> None:
    """ESCALATION AC7: rejected ones are in the log like others."""
    capability = saved(keepers)
    request = asked(keepers, ask_of(capability))
    keepers.requests.answer(request.request_id, NO)
    assert now_of(keepers, capability) == capability
    [entry] = keepers.audit.get_audit_log()
    assert (entry.approved, entry.approved_by, entry.to_set) == (False, APPROVER, NET)
    assert types(keepers.ledger)[-2:] == ["approval.answered", "permission.escalation.decided"]


def late(keepers: Keepers, _: ApprovalRequest) -> None:
    """The deadline passes, and somebody looks."""
    pass_time(keepers, Duration(FIVE_MINUTES.milliseconds + 1))
    keepers.requests.expire_overdue()


def late_answer(keepers: Keepers, request: ApprovalRequest) -> None:
    """The deadline passes, and then somebody answers."""
    pass_time(keepers, Duration(FIVE_MINUTES.milliseconds + 1))
    assert refused(keepers, request, answer()) == "request-late"


def superseded(keepers: Keepers, request: ApprovalRequest) -> None:
    """The question lost its ground."""
    keepers.requests.supersede(request.request_id)


@pytest.mark.parametrize("end", [late, late_answer, superseded])
def test_an_end_without_an_answer_is_the_systems_no(
    keepers: Keepers, end: Callable[[Keepers, ApprovalRequest], None]
) -> None:
    """ESCALATION §log-3: `approved` is 0 and `approved_by` is `system`, with the original error."""
    capability = saved(keepers)
    request = asked(keepers, ask_of(capability))
    end(keepers, request)
    assert status(keepers, request) != "pending"
    [[row]] = all_rows(keepers.ledger.database, "permission_audit_log").values()
    assert row[5:8] == (0, SYSTEM, DENIED)
    assert now_of(keepers, capability) == capability
    assert refused(keepers, request, answer()) in {"request-late", "request-settled"}
    assert len(keepers.audit.get_audit_log()) == 1


def test_a_changed_policy_ends_it_with_its_row(keepers: Keepers) -> None:
    """CONTRACTS §8-policy-change, and ESCALATION AC7: every one is logged."""
    capability = saved(keepers)
    asking = ask_of(capability).question(session_id=None, policy_hash=DIGEST)
    keepers.requests.ask_once(asking, FIVE_MINUTES)
    keepers.requests.ask(question(policy_hash=DIGEST), MINUTE)
    assert len(keepers.requests.supersede_pending(DIGEST)) == 2
    [entry] = keepers.audit.get_audit_log()
    assert (entry.capability_id, entry.approved_by) == (capability.capability_id, SYSTEM)


def test_other_requests_leave_no_row(keepers: Keepers) -> None:
    """A consent and a held operation are answered as before; the log is of permission sets."""
    for kind in (RequestKind.CONSENT, RequestKind.HOLD):
        request = keepers.requests.ask(question(kind=kind), MINUTE)
        keepers.requests.answer(request.request_id, answer())
    assert list(keepers.audit.get_audit_log()) == []


def test_a_code_tasks_yes_is_logged_and_stores_nothing(keepers: Keepers) -> None:
    """ESCALATION §code-4, §code-5, §code-6: under the task's id, marked in the event only."""
    request = asked(keepers, task_ask())
    keepers.requests.answer(request.request_id, answer())
    [entry] = keepers.audit.get_audit_log("task-1")
    assert (entry.approved, entry.to_set) == (True, NET)
    decided = events(keepers.ledger)[-1]
    assert (decided["payload"]["ephemeral"], decided["subject"]) == (True, "task:task-1")
    assert all_rows(keepers.ledger.database, "workflow_pattern") == {"workflow_pattern": []}


@pytest.mark.parametrize("lasts", [Lasts.ONCE, Lasts.SESSION])
def test_a_yes_that_was_meant_for_less_is_not_taken(keepers: Keepers, lasts: Lasts) -> None:
    """What is stored is no more than what was said: a set holds for good, a task's for its run."""
    capability = saved(keepers)
    request, task = asked(keepers, ask_of(capability)), asked(keepers, task_ask())
    assert refused(keepers, request, answer(lasts=lasts)) == "answer-refused"
    assert now_of(keepers, capability) == capability
    assert refused(keepers, task, answer(lasts=Lasts.PERMANENT)) == "answer-refused"
    keepers.requests.answer(request.request_id, answer(lasts=Lasts.PERMANENT))
    keepers.requests.answer(task.request_id, answer(lasts=Lasts.ONCE))
    assert now_of(keepers, capability).permission_set is NET


def test_a_set_that_was_only_guessed_is_asked_from_minimal(keepers: Keepers) -> None:
    """ESCALATION §set-2: what is stored is what was approved, from now on for sure."""
    capability = saved(keepers, inferred=Inferred(PermissionSet.MCP_STANDARD, 0.5))
    assert determine_permission_set(capability) is MINIMAL
    request = asked(keepers, ask_of(capability, PermissionSet.READONLY))
    keepers.requests.answer(request.request_id, answer())
    after = now_of(keepers, capability)
    assert determine_permission_set(after) is PermissionSet.READONLY
    [entry] = keepers.audit.get_audit_log()
    assert (entry.from_set, entry.to_set) == (MINIMAL, PermissionSet.READONLY)


def other_code(keepers: Keepers) -> None:
    """The code is saved anew, as somebody could who waits for the yes."""
    saved(keepers, code="import os\n")


def other_code_in_silence(keepers: Keepers) -> None:
    """The same, by a program that ended before it could take the question back."""
    crashed = Keepers(keepers.ledger, keepers.clock)
    crashed.capabilities._supersede = lambda *_: None  # type: ignore[method-assign]
    other_code(crashed)


def other_set_in_silence(keepers: Keepers) -> None:
    """Somebody moved the set meanwhile."""
    crashed = Keepers(keepers.ledger, keepers.clock)
    crashed.capabilities._supersede = lambda *_: None  # type: ignore[method-assign]
    [capability] = crashed.capabilities.list()
    crashed.capabilities.update_permission_set(
        capability.capability_id, PermissionSet.READONLY, approved_by=OWNER, by_hand=True
    )


@pytest.mark.parametrize("meanwhile", [other_code_in_silence, other_set_in_silence])
def test_a_yes_to_what_is_not_there_any_more_opens_nothing(
    keepers: Keepers, meanwhile: Callable[[Keepers], None]
) -> None:
    """The code, version and set that were shown must still be there; else it is superseded."""
    request = asked(keepers, ask_of(saved(keepers)))
    meanwhile(keepers)
    pass_time(keepers, MINUTE)
    [before] = keepers.capabilities.list()
    logged = len(keepers.audit.get_audit_log())
    assert refused(keepers, request, answer()) == "approval-superseded"
    assert status(keepers, request) == "superseded"
    assert [before] == keepers.capabilities.list()
    [*_, entry] = keepers.audit.get_audit_log()
    assert len(keepers.audit.get_audit_log()) == logged + 1
    assert (entry.approved, entry.approved_by, entry.to_set) == (False, SYSTEM, NET)
    assert refused(keepers, request, answer()) == "request-settled"


def test_a_no_counts_whatever_became_of_the_capability(keepers: Keepers) -> None:
    """A person's no is theirs, and opens nothing in any case."""
    request = asked(keepers, ask_of(saved(keepers)))
    other_code_in_silence(keepers)
    keepers.requests.answer(request.request_id, NO)
    [entry] = keepers.audit.get_audit_log()
    assert entry.approved_by == APPROVER


def test_without_the_comparison_other_code_would_get_the_set(
    keepers: Keepers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With both guards taken away a yes to one code opens another: they are what keeps it out."""
    capability = saved(keepers)
    request = asked(keepers, ask_of(capability))
    other_code_in_silence(keepers)
    monkeypatch.setattr(escalations, "hold_as_it_was", lambda *_: None)
    monkeypatch.setattr(escalations, "_as_it_was_asked", lambda *_: now_of(keepers, capability))
    keepers.requests.answer(request.request_id, answer())
    after = now_of(keepers, capability)
    assert (after.code, after.permission_set) == ("import os\n", NET)


def test_a_change_in_the_last_moment_is_seen_too(
    keepers: Keepers, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the look at the row and the transaction: the row itself is held against what was seen."""
    capability = saved(keepers)
    request = asked(keepers, ask_of(capability))
    look = escalations._as_it_was_asked
    elsewhere = Keepers(Ledger(store.open(), keepers.machine_id), keepers.clock)

    def look_and_be_overtaken(*arguments: object) -> object:
        seen = look(*arguments)  # type: ignore[arg-type]
        other_code_in_silence(elsewhere)
        return seen

    monkeypatch.setattr(escalations, "_as_it_was_asked", look_and_be_overtaken)
    assert refused(keepers, request, answer()) == "approval-superseded"
    after = now_of(keepers, capability)
    assert (after.version, after.permission_set) == (2, MINIMAL)
    assert [each.approved for each in keepers.audit.get_audit_log()] == [False]


@pytest.mark.parametrize("meanwhile", [other_code, other_set_in_silence])
def test_what_a_capability_asks_for_is_gone_from_the_list_when_it_changes(
    keepers: Keepers, meanwhile: Callable[[Keepers], None]
) -> None:
    """At once where the program goes on; otherwise when somebody answers."""
    request = asked(keepers, ask_of(saved(keepers)))
    meanwhile(keepers)
    expected = "superseded" if meanwhile is other_code else "pending"
    assert status(keepers, request) == expected


def test_a_yes_supersedes_what_else_the_capability_asks_for(keepers: Keepers) -> None:
    """Another execution asked from the set that was; another capability's and a task's question stay."""
    capability, other = saved(keepers), saved(keepers, "other", "print(2)\n")
    first = asked(keepers, ask_of(capability))
    second = asked(keepers, ask_of(capability, execution="execution-2"))
    task = task_ask(capability.capability_id, "execution-3")
    others = [asked(keepers, ask_of(other)), asked(keepers, task)]
    keepers.requests.answer(first.request_id, answer())
    assert status(keepers, second) == "superseded"
    assert [status(keepers, each) for each in others] == ["pending", "pending"]
    log = keepers.audit.get_audit_log(capability.capability_id)
    assert [(each.approved, each.approved_by) for each in log] == [(True, OWNER), (False, SYSTEM)]


def test_an_execution_asks_once(keepers: Keepers) -> None:
    """ESCALATION §yes-once: whatever it asks for and however that ended, the first question is its."""
    capability = saved(keepers)
    ask = ask_of(capability).question(session_id=None, policy_hash=None)
    first, is_new = keepers.requests.ask_once(ask, FIVE_MINUTES)
    assert is_new
    wider = ask_of(capability, PermissionSet.MCP_STANDARD)
    again = wider.question(session_id=None, policy_hash=None)
    assert keepers.requests.ask_once(again, FIVE_MINUTES) == (first, False)
    keepers.requests.answer(first.request_id, NO)
    found, is_new = keepers.requests.ask_once(again, FIVE_MINUTES)
    assert (found.request_id, found.status, is_new) == (first.request_id, "denied", False)
    with pytest.raises(ConsentryError) as caught:
        keepers.requests.ask(again, FIVE_MINUTES)
    assert caught.value.code == "escalation-spent"
    assert types(keepers.ledger).count("approval.requested") == 1
    another = ask_of(capability, execution="execution-2")
    assert asked(keepers, another).is_pending


def test_only_an_execution_asks_once(keepers: Keepers) -> None:
    """Of a consent there may be many about one digest."""
    with pytest.raises(BadInput, match="digest"):
        keepers.requests.ask_once(question(), MINUTE)


def test_what_nobody_here_asked_is_not_approved(keepers: Keepers) -> None:
    """A request whose preview says nothing of a step: a yes is refused, a no ends it without a row."""
    strange = question("capability:x", kind=RequestKind.ESCALATION)
    request = keepers.requests.ask(strange, MINUTE)
    assert refused(keepers, request, answer()) == "answer-refused"
    assert status(keepers, request) == "pending"
    keepers.requests.answer(request.request_id, NO)
    assert list(keepers.audit.get_audit_log()) == []


def test_what_cannot_be_read_holds_up_nobody(keepers: Keepers) -> None:
    """Such a request expires with the others."""
    keepers.requests.ask(question("capability:x", kind=RequestKind.ESCALATION), MINUTE)
    asked(keepers, ask_of(saved(keepers)))
    pass_time(keepers, Duration(FIVE_MINUTES.milliseconds + 1))
    assert len(keepers.requests.expire_overdue()) == 2
    assert len(keepers.audit.get_audit_log()) == 1


def test_no_request_passes_for_a_change_by_hand(keepers: Keepers) -> None:
    """The operation `manual` is a command's; a request that names it opens nothing."""
    ask = ask_of(saved(keepers))
    preview = ask.to_json()
    shown = preview["request"]
    assert isinstance(shown, dict)
    asking = ask.question(session_id=None, policy_hash=None)
    forged = question(
        asking.subject,
        kind=RequestKind.ESCALATION,
        digest=asking.digest,
        preview={**preview, "request": {**shown, "detectedOperation": "manual"}},
    )
    request = keepers.requests.ask(forged, MINUTE)
    assert refused(keepers, request, answer()) == "answer-refused"
