"""One question for an execution, across retries and crashes, about the code that asked (ESCALATION AC5)."""

import pytest

from consentry.base.codes import Code
from consentry.decide import escalation_handler
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilities import Inferred, Language
from consentry.decide.escalation_handler import Failed, PermissionEscalationHandler
from consentry.surface.protected import protected_roots
from tests.decide.escalating import (
    MINIMAL,
    NET,
    NETWORK,
    NO,
    READ,
    STANDARD,
    YES,
    Flow,
)
from tests.decide.samples import OTHER_DIGEST, OWNER


def test_where_nobody_waits_it_is_pending(flow: Flow) -> None:
    """The question stands; whoever comes back finds it and puts no other."""
    flow.person.answers = lambda _: None
    found = flow.handle()
    assert (found.approved, found.code) == (False, Code.APPROVAL_PENDING)
    assert found.request_id is not None
    flow.person.answers = flow.person.say(YES)
    again = flow.handle()
    assert (again.approved, again.request_id) == (True, found.request_id)


def test_an_execution_asks_once(flow: Flow) -> None:
    """ESCALATION AC5, §yes-once: a retry that needs yet more gets no second question."""
    first = flow.handle(NET)
    assert first.new_set is NETWORK
    second = flow.handle(READ)
    assert (second.approved, second.code) == (False, Code.ESCALATION_SPENT)
    assert second.request_id == first.request_id
    assert len(flow.person.asks) == 1
    assert [each["code"] for each in flow.refusals] == [Code.ESCALATION_SPENT]
    assert flow.stored.permission_set is NETWORK


def test_a_refused_execution_asks_no_more(flow: Flow) -> None:
    """After a no the same execution is not put before the person again."""
    flow.person.answers = flow.person.say(NO)
    flow.handle()
    flow.person.answers = flow.person.say(YES)
    assert flow.handle().code == Code.ESCALATION_SPENT
    assert flow.handle(READ).code == Code.ESCALATION_SPENT
    assert len(flow.person.asks) == 1


def test_another_execution_asks_anew(flow: Flow) -> None:
    """It is the execution that is counted."""
    flow.handle(NET)
    found = flow.handle(READ, execution_id="execution-2")
    assert found.new_set is STANDARD
    assert len(flow.person.asks) == 2


def test_an_approved_set_that_was_not_used_yet_is_found_after_a_crash(flow: Flow) -> None:
    """Between the yes and the retry the program ended: the answer stands, nobody is asked again."""
    flow.handle(NET)
    again = PermissionEscalationHandler(
        flow.keepers.capabilities, flow.keepers.audit, flow.person, protected=protected_roots()
    )
    found = again.handle_permission_error(flow.failed(NET, current_set=MINIMAL))
    assert (found.approved, found.new_set) == (True, NETWORK)
    assert len(flow.person.asks) == 1
    assert len(flow.log) == 1


def test_a_code_task_is_logged_and_not_stored(flow: Flow) -> None:
    """ESCALATION §code-4, §code-5, §code-6: its id stands for a capability's, for this run only."""
    task = {"capability_id": "task-7", "ephemeral": True, "code_hash": None, "version": None}
    found = flow.handle(NET, **task)
    assert (found.approved, found.new_set) == (True, NETWORK)
    assert flow.keepers.capabilities.find("task-7") is None
    [entry] = flow.keepers.audit.get_audit_log("task-7")
    assert entry.approved
    assert flow.stored.permission_set is MINIMAL
    assert flow.handle("PermissionDenied: Requires read access to /etc/a", **task).code == (
        Code.ESCALATION_PROTECTED_ROOT
    )
    assert flow.refusals[0]["ephemeral"] is True


def test_a_capability_that_changed_meanwhile_is_not_retried(flow: Flow) -> None:
    """The yes was to other code: it opens nothing."""

    def change_and_answer(request: ApprovalRequest) -> None:
        inferred = Inferred(MINIMAL, 0.95)
        flow.keepers.capabilities.save("weather", Language.PYTHON, "print(2)\n", inferred, by=OWNER)
        with pytest.raises(Exception, match=r"changed|settled|superseded"):
            flow.keepers.requests.answer(request.request_id, YES)

    flow.person.answers = change_and_answer
    found = flow.handle()
    assert (found.approved, found.code) == (False, Code.APPROVAL_SUPERSEDED)
    assert flow.stored.permission_set is MINIMAL


def test_a_set_given_by_hand_after_the_yes_counts_more(flow: Flow) -> None:
    """The approved set is read back: where it is not stored any more, there is no retry in it."""

    def answer_and_lower(request: ApprovalRequest) -> None:
        flow.keepers.requests.answer(request.request_id, YES)
        flow.keepers.capabilities.update_permission_set(
            flow.capability.capability_id, MINIMAL, approved_by=OWNER, by_hand=True
        )

    flow.person.answers = answer_and_lower
    found = flow.handle()
    assert (found.approved, found.code) == (False, Code.APPROVAL_SUPERSEDED)


def test_a_yes_to_a_task_is_not_one_to_other_code(flow: Flow) -> None:
    """Under the same id of an execution, other code or other arguments get nothing of it."""
    task = {"capability_id": "task-7", "ephemeral": True, "version": None}
    assert flow.handle(NET, **task).approved
    assert flow.handle(NET, **task).approved
    for change in (
        {"code_hash": None},
        {"arguments": {"city": "Basel"}},
        {"workspace": "/place"},
        {"allowlist": ("api.example.com",)},
    ):
        assert flow.handle(NET, **{**task, **change}).code == Code.ESCALATION_SPENT
    assert len(flow.person.asks) == 1


def in_version_two(flow: Flow) -> Failed:
    """The same execution in another process, which found the code that was saved meanwhile."""
    inferred = Inferred(MINIMAL, 0.95)
    new = flow.keepers.capabilities.save("weather", Language.PYTHON, "2\n", inferred, by=OWNER)
    return flow.failed(code_hash=new.code_hash, version=new.version)


def test_a_yes_to_the_next_version_is_not_one_to_the_version_before(flow: Flow) -> None:
    """Two processes of one execution, and new code between their starts: the old code gets nothing."""
    old = flow.failed()
    new = in_version_two(flow)
    assert flow.handler.handle_permission_error(new).approved
    assert flow.handler.handle_permission_error(old).code == Code.ESCALATION_SPENT
    assert len(flow.person.asks) == 1


def test_a_yes_counts_for_every_process_that_runs_that_version(flow: Flow) -> None:
    """The same two processes with the same code: both go on."""
    new = in_version_two(flow)
    assert flow.handler.handle_permission_error(new).approved
    assert flow.handler.handle_permission_error(new).approved
    assert len(flow.person.asks) == 1


def as_task(flow: Flow) -> Failed:
    """Other code as a task that is called like the capability, under the id of its execution."""
    return flow.failed(ephemeral=True, version=None, code_hash=OTHER_DIGEST)


def test_a_yes_to_a_capability_is_not_one_to_a_task_that_is_called_like_it(flow: Flow) -> None:
    """ESCALATION §code-4: the id of a task is anybody's word, and may be that of a capability."""
    task = as_task(flow)
    assert flow.handle().approved
    assert flow.handler.handle_permission_error(task).code == Code.ESCALATION_SPENT


def test_a_yes_to_a_task_is_not_one_to_a_capability_that_is_called_like_it(flow: Flow) -> None:
    """The other way round nothing is stored, and nothing is tried again."""
    assert flow.handler.handle_permission_error(as_task(flow)).approved
    assert flow.handle().code == Code.ESCALATION_SPENT
    assert flow.stored.permission_set is MINIMAL


def test_without_the_comparison_other_code_would_have_the_yes(
    flow: Flow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What keeps it from that is that what was asked is held against what failed."""
    monkeypatch.setattr(escalation_handler, "_is_about", lambda *_: True)
    task = as_task(flow)
    assert flow.handle().approved
    assert flow.handler.handle_permission_error(task).new_set is NETWORK
