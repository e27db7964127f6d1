"""The executor itself: which execution it is, who is asked, whose answer counts. The store is real.

What runs code is a stand-in here (`fakes`); `tests/service/test_executing.py` has the real sandboxes.
"""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.base.ids import Uuid7Ids
from consentry.base.values import replace
from consentry.decide.escalation import format_escalation_request
from consentry.decide.identity import Role, web_identity
from consentry.decide.question import Answer, Channel, Outcome
from consentry.flow.commands import DecisionRequired
from consentry.flow.executor import ControlledExecutor, Ports
from consentry.flow.results import HilDecision
from consentry.store.permissionaudit import PermissionAuditStore
from consentry.surface.permission_sets import PermissionSet
from tests.decide.samples import OWNER
from tests.flow.fakes import DENIED, FakeRunner, KeptQuestions

TYPE = "permission_escalation_response"


def audit_of(questions: KeptQuestions) -> PermissionAuditStore:
    """The log of the same store."""
    journal = questions.journal
    return PermissionAuditStore(journal.ledger, journal.ids, journal.clock, journal.context)


def executor_of(questions: KeptQuestions, runner: FakeRunner, **named: Any) -> ControlledExecutor:
    """An executor on the real store."""
    ids = Uuid7Ids(questions.clock)
    ports = Ports(runner, questions, ids, audit_of(questions))
    return ControlledExecutor(ports, **{"workflow_id": "flow-1", **named})


def task(task_id: str = "fetch", **changes: Any) -> dict[str, Any]:
    """Code that needs the network."""
    return {"id": task_id, "type": "code_execution", "code": "fetch()", **changes}


def answering(executor: ControlledExecutor, **said: Any) -> Callable[[DecisionRequired], None]:
    """A host program that answers at once."""

    def answer(event: DecisionRequired) -> None:
        executor.commands.enqueue({"type": TYPE, "requestId": event.request_id, **said})

    return answer


def elsewhere_says(
    elsewhere: KeptQuestions, outcome: Outcome, reason: str | None = None
) -> Callable[[DecisionRequired], None]:
    """Somebody in another process answers at once."""
    answer = Answer(outcome, web_identity("other"), Role.APPROVER, Channel.INBOX, reason)
    return lambda event: elsewhere.answer(event.request_id, answer) and None


def executor_that_tells(
    questions: KeptQuestions, runner: FakeRunner
) -> tuple[ControlledExecutor, list[HilDecision]]:
    """An executor, and the decisions that its host program is told."""
    told: list[HilDecision] = []
    return executor_of(questions, runner, on_decision=told.append), told


def test_a_yes_in_the_queue_answers_the_request(
    questions: KeptQuestions, runner: FakeRunner
) -> None:
    """ESCALATION AC3, §ask-2: the row has the answer of the program's person, and the log its line."""
    executor = executor_of(questions, runner)
    executor.on_event(answering(executor, approved=True, feedback="go on"))
    done = executor.execute_code_task(task())
    assert (done.success, done.result) == (True, "fetched")
    assert runner.ran == [("fetch", PermissionSet.MINIMAL), ("fetch", PermissionSet.NETWORK_API)]
    assert done.escalation is not None
    request = questions.look(str(done.escalation.request_id))
    assert request.answer is not None
    assert (request.answer.by, request.answer.role) == (OWNER, Role.OWNER)
    assert (request.answer.channel, request.answer.reason) == (Channel.LIBRARY, "go on")
    [row] = audit_of(questions).get_audit_log("fetch")
    assert (row.approved, row.approved_by, row.reason) == (True, OWNER, DENIED)


def test_a_no_gives_the_original_error(questions: KeptQuestions, runner: FakeRunner) -> None:
    """ESCALATION §no, AC9.2: as it was, with the code and the person's words beside it."""
    executor = executor_of(questions, runner)
    executor.on_event(answering(executor, approved=False, feedback="not today"))
    done = executor.execute_code_task(task())
    assert (done.success, done.result) == (False, None)
    assert str(done.error) == f"PermissionDenied: {DENIED}"
    assert done.escalation is not None
    assert (done.escalation.code, done.escalation.feedback) == ("approval-denied", "not today")
    assert runner.ran == [("fetch", PermissionSet.MINIMAL)]
    [row] = audit_of(questions).get_audit_log("fetch")
    assert (row.approved, row.approved_by) == (False, OWNER)


def test_the_event_has_exactly_the_documents_keys(
    questions: KeptQuestions, runner: FakeRunner
) -> None:
    """ESCALATION §ask-5: five keys, milliseconds, and the text of the request."""
    executor = executor_of(questions, runner)
    executor.on_event(answering(executor, approved=False))
    with executor.events() as events:
        before = questions.clock.now().unix_ms
        executor.execute_code_task(task())
        event = events.get(timeout=0)
    assert event is not None
    document = json.loads(json.dumps(event.to_json()))
    assert sorted(document) == ["decisionType", "description", "timestamp", "type", "workflowId"]
    assert (document["type"], document["decisionType"]) == ("decision_required", "HIL")
    assert document["workflowId"] == "flow-1"
    assert isinstance(document["timestamp"], int)
    assert before <= document["timestamp"] <= questions.clock.now().unix_ms
    asked = runner.requested("fetch", PermissionSet.MINIMAL)
    assert document["description"] == format_escalation_request(asked)
    assert "reaches any public host" in event.prompt


def test_the_set_is_the_parameters_then_the_tasks_then_minimal(
    questions: KeptQuestions, runner: FakeRunner
) -> None:
    """ESCALATION §code-1; `trusted` is refused on either way."""
    executor = executor_of(questions, runner)
    config = {"sandboxConfig": {"permissionSet": "network-api"}}
    assert executor.execute_code_task(task(**config)).success
    assert executor.execute_code_task(task("b"), "network-api").success
    executor.set_permission_escalation_dependencies(None)
    assert executor.execute_code_task(task("c", **config), "readonly").permission_set == "readonly"
    assert executor.execute_code_task(task("d")).permission_set == "minimal"
    with pytest.raises(ConsentryError, match="never given to a task"):
        executor.execute_code_task(task("e"), "trusted")
    with pytest.raises(ConsentryError) as caught:
        executor.execute_code_task(task("e"), "everything")
    assert caught.value.code is Code.PERMISSION_SET


@pytest.mark.parametrize("outcome", [Outcome.APPROVED, Outcome.DENIED])
def test_an_answer_of_another_process_counts(
    questions: KeptQuestions, elsewhere: KeptQuestions, runner: FakeRunner, outcome: Outcome
) -> None:
    """The question is in the store, and the queue is one way among others."""
    executor = executor_of(questions, runner)
    executor.on_event(elsewhere_says(elsewhere, outcome))
    done = executor.execute_code_task(task())
    assert done.success is (outcome is Outcome.APPROVED)
    [decision] = executor.decisions
    assert (decision.by, decision.channel) == ("web:other", "inbox")
    assert decision.own_answer is False


def test_one_answer_wins_and_the_other_is_told(
    questions: KeptQuestions, elsewhere: KeptQuestions, runner: FakeRunner
) -> None:
    """Another process said no first; the queue's yes opens nothing, and who won is told."""
    executor, told = executor_that_tells(questions, runner)
    executor.on_event(elsewhere_says(elsewhere, Outcome.DENIED, "mine"))
    executor.on_event(answering(executor, approved=True))
    assert not executor.execute_code_task(task()).success
    [decision] = told
    assert (decision.status, decision.by, decision.own_answer) == ("denied", "web:other", False)
    assert [row.approved for row in audit_of(questions).get_audit_log()] == [False]


def test_nobody_in_time_is_a_no_with_its_own_code(late: KeptQuestions, runner: FakeRunner) -> None:
    """ESCALATION §ask-4, §log-3: denied by the system; a response after that finds nobody."""
    executor = executor_of(late, runner)
    done = executor.execute_code_task(task())
    assert done.escalation is not None
    assert (done.success, done.escalation.code) == (False, "approval-expired")
    assert str(done.error) == f"PermissionDenied: {DENIED}"
    [row] = audit_of(late).get_audit_log("fetch")
    assert (row.approved, row.approved_by) == (False, "system")
    with pytest.raises(ConsentryError) as caught:
        executor.commands.enqueue({"type": TYPE, "approved": True})
    assert caught.value.code is Code.ID_UNKNOWN


def test_tasks_wait_side_by_side(questions: KeptQuestions, runner: FakeRunner) -> None:
    """CONTRACTS §6: each for its own question, while others go on; answers go by request."""
    executor, both = executor_of(questions, runner), Barrier(3)
    waiting: dict[str, str] = {}

    def note(event: DecisionRequired) -> None:
        waiting[event.ask.request.capability_id] = event.request_id
        both.wait(30)

    executor.on_event(note)
    with ThreadPoolExecutor(3) as threads:
        first = threads.submit(executor.execute_code_task, task("one"))
        second = threads.submit(executor.execute_code_task, task("two"))
        both.wait(30)
        free = executor.execute_code_task(task("free"), "network-api")
        assert (free.success, first.done(), second.done()) == (True, False, False)
        with pytest.raises(ConsentryError, match="2 questions wait"):
            executor.commands.enqueue({"type": TYPE, "approved": True})
        for name, approved in (("two", True), ("one", False)):
            answer = {"type": TYPE, "approved": approved, "requestId": waiting[name]}
            executor.commands.enqueue(answer)
        assert (first.result(30).success, second.result(30).success) == (False, True)
    rows = audit_of(questions).get_audit_log()
    assert {row.capability_id: row.approved for row in rows} == {"one": False, "two": True}


@pytest.mark.parametrize("approved", [True, False])
def test_started_again_it_is_the_same_execution(
    questions: KeptQuestions, elsewhere: KeptQuestions, *, approved: bool
) -> None:
    """ESCALATION §yes-once: another process, the same workflow and task: nobody is asked again."""
    first = executor_of(questions, FakeRunner())
    first.on_event(answering(first, approved=approved))
    assert first.execute_code_task(task()).success is approved
    again = executor_of(elsewhere, FakeRunner())
    asked: list[DecisionRequired] = []
    again.on_event(asked.append)
    assert again.execute_code_task(task()).success is approved
    assert asked == []
    assert len(audit_of(questions).get_audit_log()) == 1


def test_started_again_it_joins_the_question_that_is_open(
    questions: KeptQuestions, elsewhere: KeptQuestions
) -> None:
    """Both processes wait for one request, and one answer ends both."""
    first, second = executor_of(questions, FakeRunner()), executor_of(elsewhere, FakeRunner())
    ids: list[str] = []
    both = Barrier(2)

    def note(event: DecisionRequired) -> None:
        ids.append(event.request_id)
        both.wait(30)

    for each in (first, second):
        each.on_event(note)
    second.on_event(answering(second, approved=True))
    with ThreadPoolExecutor(2) as threads:
        runs = [threads.submit(each.execute_code_task, task()) for each in (first, second)]
        assert [run.result(30).success for run in runs] == [True, True]
    assert len(ids) == 2
    assert len(set(ids)) == 1
    assert len(audit_of(questions).get_audit_log()) == 1


def test_the_setter_and_the_getter(questions: KeptQuestions, runner: FakeRunner) -> None:
    """ESCALATION AC10.2: what is set is what is got; without it nobody is asked."""
    executor = executor_of(questions, runner)
    assert executor.get_permission_audit_store() is not None
    other = audit_of(questions)
    executor.set_permission_escalation_dependencies(other)
    assert executor.get_permission_audit_store() is other
    executor.set_permission_escalation_dependencies(None)
    assert executor.get_permission_audit_store() is None
    asked: list[DecisionRequired] = []
    executor.on_event(asked.append)
    done = executor.execute_code_task(task())
    assert (done.success, done.escalation, asked) == (False, None, [])
    with pytest.raises(ConsentryError, match="no audit store"):
        executor.request_permission_escalation(runner.requested("x", PermissionSet.MINIMAL))


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({"approved": True}, {"approved": True}),
        ({"approved": False, "feedback": "no"}, {"approved": False, "feedback": "no"}),
    ],
)
def test_the_question_alone(
    questions: KeptQuestions, runner: FakeRunner, said: dict[str, Any], expected: dict[str, Any]
) -> None:
    """ESCALATION AC3, §ask-2: approved, and feedback where there is some."""
    executor = executor_of(questions, runner)
    executor.on_event(answering(executor, **said))
    request = runner.requested("task", PermissionSet.MINIMAL)
    answer = executor.request_permission_escalation(request)
    assert answer.to_json() == expected
    assert runner.ran == []


def test_the_question_in_its_json_form(questions: KeptQuestions, runner: FakeRunner) -> None:
    """ESCALATION §request-1: as it is serialised; anything else is one clear error, and no question."""
    executor = executor_of(questions, runner)
    executor.on_event(answering(executor, approved=True))
    request = runner.requested("task", PermissionSet.MINIMAL)
    assert executor.request_permission_escalation(request.to_json()).approved
    with pytest.raises(ConsentryError, match="currentSet"):
        executor.request_permission_escalation({**request.to_json(), "currentSet": "huge"})
    with pytest.raises(ConsentryError):
        executor.request_permission_escalation("minimal")  # type: ignore[arg-type] # on purpose
    assert len(executor.decisions) == 1


def test_a_yes_to_one_step_is_none_to_another(questions: KeptQuestions, runner: FakeRunner) -> None:
    """An execution asks once: the same step again has its answer, a larger one has none."""
    executor = executor_of(questions, runner)
    executor.on_event(answering(executor, approved=True))
    step = runner.requested("task", PermissionSet.MINIMAL)
    larger = replace(step, requested_set=PermissionSet.MCP_STANDARD)
    answers = [
        executor.request_permission_escalation(each, execution_id="once")
        for each in (step, step, larger)
    ]
    assert [each.approved for each in answers] == [True, True, False]
    assert answers[2].code == "escalation-spent"
    assert len(executor.decisions) == 1


def test_another_person_may_be_named(questions: KeptQuestions, runner: FakeRunner) -> None:
    """Whoever holds the queue says whose answer it is; it is written so, as an approver's."""
    executor = executor_of(questions, runner)
    executor.on_event(answering(executor, approved=True, by="web:chief"))
    executor.execute_code_task(task())
    [row] = audit_of(questions).get_audit_log()
    assert row.approved_by == "web:chief"
    [decision] = executor.decisions
    assert (decision.by, decision.own_answer) == ("web:chief", True)


def test_a_question_that_the_queue_may_not_answer(
    questions: KeptQuestions, elsewhere: KeptQuestions, runner: FakeRunner
) -> None:
    """The response is refused to whoever sends it; the person answers elsewhere."""
    executor = executor_of(replace(questions, why_closed="by passphrase only"), runner)
    executor.on_event(answering(executor, approved=True))
    executor.on_event(elsewhere_says(elsewhere, Outcome.DENIED))
    assert not executor.execute_code_task(task()).success
    [failure] = executor.listener_failures
    assert str(failure.error) == "by passphrase only"


def test_decisions_are_captured(questions: KeptQuestions, runner: FakeRunner) -> None:
    """ESCALATION §ask-capture: kept in sight and told; one that a host captures itself, too."""
    executor, told = executor_that_tells(questions, runner)
    executor.on_event(answering(executor, approved=True, feedback="fine"))
    executor.execute_code_task(task())
    [decision] = executor.decisions
    assert told == [decision]
    assert decision.to_json() == {
        "type": "hil_decision",
        "timestamp": decision.timestamp,
        "workflowId": "flow-1",
        "requestId": decision.request_id,
        "capabilityId": "fetch",
        "approved": True,
        "status": "approved",
        "by": OWNER,
        "channel": "library",
        "feedback": "fine",
        "ownAnswer": True,
    }
    assert executor.capture_hil_decision(decision) is decision
    assert executor.decisions == (decision, decision)


def test_a_command_is_waited_for(questions: KeptQuestions, runner: FakeRunner) -> None:
    """ESCALATION §ask-4: a bounded wait; nothing in time is nothing."""
    executor = executor_of(questions, runner)
    assert executor.wait_for_decision_command(TYPE, 0.01) is None
    with ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(executor.wait_for_decision_command, TYPE, 30)
        while not waiting.done():
            try:
                executor.commands.enqueue({"type": TYPE, "approved": True})
            except ConsentryError:
                continue  # it does not wait yet, or has its answer
        command = waiting.result(30)
    assert command is not None
    assert command.approved


def test_a_broken_listener_breaks_no_execution(
    questions: KeptQuestions, runner: FakeRunner
) -> None:
    """The others are told, the answer comes, the task ends as it should."""
    executor = executor_of(questions, runner)

    def broken(event: DecisionRequired) -> None:
        raise RuntimeError(event.request_id)

    executor.on_event(broken)
    executor.on_event(answering(executor, approved=True))
    assert executor.execute_code_task(task()).success
    assert len(executor.listener_failures) == 1


def test_a_workflow_has_an_id(questions: KeptQuestions, runner: FakeRunner) -> None:
    """One of its own where none is given; one that cannot be told apart is refused."""
    first = executor_of(questions, runner, workflow_id=None)
    second = executor_of(questions, runner, workflow_id=None)
    assert first.workflow_id.startswith("workflow-")
    assert first.workflow_id != second.workflow_id
    with pytest.raises(ConsentryError) as caught:
        executor_of(questions, runner, workflow_id="a/b")
    assert str(caught.value).startswith("`workflowId`: `a/b` is not an id")


def test_a_result_can_be_serialised(questions: KeptQuestions, runner: FakeRunner) -> None:
    """In camelCase; what was printed is left out."""
    executor = executor_of(questions, runner)
    executor.on_event(answering(executor, approved=False, feedback="no"))
    document = json.loads(json.dumps(executor.execute_code_task(task()).to_json()))
    assert document["taskId"] == "fetch"
    assert document["executionId"] == "flow-1/fetch"
    assert document["error"] == {"type": "PermissionDenied", "message": DENIED, "traceback": None}
    assert document["escalation"]["request"]["requestedSet"] == "network-api"
    assert (document["success"], document["permissionSet"]) == (False, "minimal")
