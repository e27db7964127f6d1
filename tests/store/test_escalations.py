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
from consentry.decide.question import Outcome, RequestKind
from consentry.store.ledger import Ledger
from consentry.surface.permission_sets import PermissionSet
from tests.decide.samples import APPROVER, DIGEST, MINUTE, NOW, answer, question
from tests.store.escalating import (
    DENIED,
    FIVE_MINUTES,
    MINIMAL,
    NET,
    ask_of,
    asked,
    now_of,
    refused_answer,
    saved,
    status,
    task_ask,
)
from tests.store.keepers import Keepers, all_rows, events, pass_time, types

NO = answer(Outcome.DENIED, APPROVER, role=Role.APPROVER, reason="not this host")


@pytest.fixture
def keepers(ledger: Ledger) -> Keepers:
    """Everything that keeps, on a clock that moves when told to."""
    return Keepers(ledger, ManualClock(NOW))


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
    assert refused_answer(keepers, request, answer()) == "request-late"


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
    assert refused_answer(keepers, request, answer()) in {"request-late", "request-settled"}
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
    assert refused_answer(keepers, request, answer(lasts=lasts)) == "answer-refused"
    assert now_of(keepers, capability) == capability
    assert refused_answer(keepers, task, answer(lasts=Lasts.PERMANENT)) == "answer-refused"
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
