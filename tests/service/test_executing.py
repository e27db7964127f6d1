"""`ControlledExecutor` end to end: real sandboxes, a real ledger, and answers of other processes."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

import pytest

import consentry
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.decide.escalation import suggest_escalation
from consentry.flow.commands import DecisionRequired
from consentry.service.executing import ControlledExecutor, StoredQuestions
from consentry.service.passphrase import Passphrase
from consentry.surface.permission_sets import PermissionSet
from tests.cli.capabilities import shown
from tests.cli.terminals import at_terminal
from tests.service.hosts import (
    BESIDE,
    NO,
    READS,
    TYPE,
    YES,
    Host,
    capability,
    code,
    events_of,
    failed_as_it_was,
    host,
    log_of,
    set_of,
)

__all__ = ["host"]  # a fixture that tests here ask for by name

pytestmark = pytest.mark.timeout(120)


def test_a_capability_task_with_escalation(host: Host) -> None:
    """ESCALATION AC10.1, AC9.1, AC5: denied, asked, approved, tried again; the set is kept for good."""
    host.says = YES
    executor = host.executor()
    saved = host.save(executor, READS + " + str(n)")
    done = executor.execute_capability_task(capability(arguments={"n": 7}))
    assert (done.success, done.result, done.error) == (True, "in data7", None)
    assert (done.permission_set, len(done.run_ids)) == ("readonly", 2)
    assert set_of(host.executor(), saved) == ("readonly", 1.0)
    assert log_of(executor, saved) == [("minimal", "readonly", True)]
    [decision] = executor.decisions
    assert (decision.approved, decision.feedback, decision.channel) == (True, "it may", "library")
    again = executor.execute_capability_task(capability(task_id="later", arguments={"n": 8}))
    assert (again.result, len(again.run_ids), len(host.asked)) == ("in data8", 1, 1)


def test_enough_permissions(host: Host) -> None:
    """ESCALATION AC10.3: it executes, nobody is asked, and the ledger says that the set decided."""
    executor = host.executor()
    saved = executor.save_capability("it", READS)
    assert saved.permission_set is PermissionSet.READONLY
    done = executor.execute_capability_task(capability(saved.capability_id))
    assert (done.success, done.result, done.escalation) == (True, "in data", None)
    assert host.asked == []
    [decided] = events_of(executor, "run.decided")
    assert decided["payload"]["consent"]["decision"] == "permission_set"
    assert decided["payload"]["consent"]["executionId"] == "flow/task"


def test_the_setter_and_the_getter(host: Host) -> None:
    """ESCALATION AC10.2: the log of the ledger from the start; another one takes refusals; none asks."""
    host.says = YES
    executor = host.executor()
    own = executor.get_permission_audit_store()
    assert own is not None
    other = host.executor(workflow_id="other").get_permission_audit_store()
    executor.set_permission_escalation_dependencies(other)
    assert executor.get_permission_audit_store() is other
    assert executor.execute_code_task(code(READS)).success
    assert log_of(executor, "task") == [("minimal", "readonly", True)]
    executor.set_permission_escalation_dependencies(None)
    assert executor.get_permission_audit_store() is None
    assert failed_as_it_was(executor.execute_code_task(code(READS, "second")))
    assert len(host.asked) == 1


def test_a_rejection_passes_the_original_error_on(host: Host) -> None:
    """ESCALATION AC9.2, §no: as the code met it; nothing is stored, and the no is logged."""
    host.says = NO
    executor = host.executor()
    saved = host.save(executor, READS)
    done = executor.execute_capability_task(capability())
    assert failed_as_it_was(done)
    assert done.escalation is not None
    assert (done.escalation.code, done.escalation.feedback) == ("approval-denied", "not today")
    assert len(done.run_ids) == 1
    assert set_of(executor, saved) == ("minimal", 0.95)
    assert log_of(executor, saved) == [("minimal", "readonly", False)]


def test_the_log_and_the_database_have_every_decision(host: Host) -> None:
    """ESCALATION AC9.4, AC9.5: rejected and approved; another process finds the set."""
    executor = host.executor()
    saved = host.save(executor, READS)
    for number, said in enumerate((NO, YES)):
        host.says = said
        executor.execute_capability_task(capability(task_id=f"task-{number}"))
    assert log_of(executor, saved) == [
        ("minimal", "readonly", False),
        ("minimal", "readonly", True),
    ]
    assert shown(host.line, "it")["effectiveSet"] == "readonly"


def test_nobody_in_time(host: Host) -> None:
    """ESCALATION AC3, §ask-4: the deadline denies, with its own code and by the system."""
    executor = host.executor(decision_timeout=0.3)
    saved = host.save(executor, READS)
    done = executor.execute_capability_task(capability())
    assert failed_as_it_was(done)
    assert done.escalation is not None
    assert done.escalation.code == "approval-expired"
    [row] = executor.get_permission_audit_store().get_audit_log(saved)  # type: ignore[union-attr]
    assert (row.approved, row.approved_by) == (False, "system")


def test_five_minutes_unless_said_otherwise(host: Host) -> None:
    """ESCALATION §ask-4."""
    host.says = NO
    executor = host.executor()
    executor.execute_code_task(code(READS))
    [event] = events_of(executor, "approval.requested")
    assert event["payload"]["deadline"] > event["payload"]["requestedAt"]
    request = executor._questions.look(host.asked[0].request_id)
    assert request.deadline.since(request.requested_at).milliseconds == 300_000


def test_the_event_is_the_documents(host: Host) -> None:
    """ESCALATION AC3, §ask-5, §ask-text: five keys; the prompt beside it says what is added."""
    host.says = NO
    executor = host.executor()
    saved = host.save(executor, READS)
    executor.execute_capability_task(capability())
    [event] = host.asked
    document = event.to_json()
    assert set(document) == {"type", "timestamp", "workflowId", "decisionType", "description"}
    description = str(document["description"])
    assert description.startswith("=== Permission Escalation Request ===\n\n")
    assert f"Capability: {saved}\n" in description
    assert description.endswith("[A]pprove permission escalation\n[R]eject and abort execution")
    assert "What readonly adds:" in event.prompt


@pytest.mark.parametrize("word", ["A", "R"])
def test_another_process_answers(host: Host, word: str) -> None:
    """ESCALATION AC3: `consentry approve` on a terminal counts as well; the one who waits goes on."""
    executor = host.executor(decision_timeout=60)
    asked: Queue[str] = Queue()
    executor.on_event(lambda event: asked.put(event.request_id))
    with ThreadPoolExecutor(1) as threads:
        task = threads.submit(executor.execute_code_task, code(READS))
        request_id = asked.get(timeout=30)
        with at_terminal(host.line, "approve", request_id, size=(120, 80)) as terminal:
            terminal.answer("a approve", word)
            terminal.ended()
        done = task.result(60)
    assert done.success is (word == "A")
    [decision] = executor.decisions
    assert (decision.own_answer, decision.approved) == (False, word == "A")
    with pytest.raises(ConsentryError) as late:
        executor.commands.enqueue({"type": TYPE, "approved": True, "requestId": request_id})
    assert late.value.code is Code.ID_UNKNOWN


def test_two_tasks_wait_side_by_side(host: Host) -> None:
    """CONTRACTS §6: each for its own question, while a third one runs to its end."""
    executor = host.executor()
    asked: Queue[DecisionRequired] = Queue()
    executor.on_event(asked.put)
    saved = host.save(executor, READS)
    with ThreadPoolExecutor(2) as threads:
        one = threads.submit(executor.execute_capability_task, capability(task_id="one"))
        two = threads.submit(executor.execute_code_task, code(BESIDE, "two"))
        waiting = {each.ask.request.capability_id: each.request_id for each in _two(asked)}
        assert executor.execute_code_task(code("1 + 1", "three")).result == 2
        assert (one.done(), two.done()) == (False, False)
        with pytest.raises(ConsentryError) as unclear:
            executor.commands.enqueue({"type": TYPE, "approved": True})
        assert unclear.value.code is Code.ID_AMBIGUOUS
        for name, said in (("two", NO), (saved, YES)):
            executor.commands.enqueue({"type": TYPE, "requestId": waiting[name], **said})
        assert (one.result(60).success, two.result(60).success) == (True, False)
    assert sorted(log_of(executor)) == [
        ("minimal", "filesystem", False),
        ("minimal", "readonly", True),
    ]


def _two(asked: "Queue[DecisionRequired]") -> list[DecisionRequired]:
    return [asked.get(timeout=60), asked.get(timeout=60)]


def test_tasks_of_one_capability_need_one_yes(host: Host) -> None:
    """Both ask side by side; the first yes gives the set, and the other goes on in it unasked."""
    executor = host.executor()
    asked: Queue[DecisionRequired] = Queue()
    executor.on_event(asked.put)
    saved = host.save(executor, READS)
    with ThreadPoolExecutor(2) as threads:
        tasks = [
            threads.submit(executor.execute_capability_task, capability(task_id=name))
            for name in ("one", "two")
        ]
        first, _ = _two(asked)
        executor.commands.enqueue({"type": TYPE, "requestId": first.request_id, **YES})
        done = [each.result(60) for each in tasks]
    assert [each.result for each in done] == ["in data", "in data"]
    assert sorted(each.status for each in executor.decisions) == ["approved", "superseded"]
    assert sorted(log_of(executor, saved)) == [
        ("minimal", "readonly", False),
        ("minimal", "readonly", True),
    ]


def test_misuse_is_raised(host: Host) -> None:
    """A task that is none, and a capability that is not there."""
    executor = host.executor()
    with pytest.raises(ConsentryError) as caught:
        executor.execute_capability_task(capability("nothing"))
    assert caught.value.code is Code.CAPABILITY_MISSING
    with pytest.raises(ConsentryError):
        executor.execute_capability_task({"id": "x"})


def test_the_question_alone(host: Host) -> None:
    """ESCALATION AC3, §ask-2: for a saved capability a yes is stored, for any other id it is not."""
    host.says = YES
    executor = host.executor()
    saved = host.save(executor, READS)
    error = "PermissionDenied: Requires read access to ./data/x.txt"
    for name in (saved, "somebody"):
        request = suggest_escalation(error, name)
        assert request is not None
        answer = executor.request_permission_escalation(request)
        assert answer.to_json() == {"approved": True, "feedback": "it may"}
    assert set_of(executor, saved) == ("readonly", 1.0)
    assert len(log_of(executor)) == 2
    assert [each.prompt.splitlines()[0] for each in host.asked] == [
        "reported by the program itself, not observed"
    ] * 2


@pytest.mark.parametrize("is_closed", [True, False])
def test_where_a_passphrase_is_set_the_queue_answers_nothing(
    host: Host, monkeypatch: pytest.MonkeyPatch, *, is_closed: bool
) -> None:
    """The program does not know the words, and the question waits; with that taken away it answers."""
    host.says = YES
    state = Path(host.environ["HOME"], ".local/state/consentry")
    executor = host.executor(decision_timeout=1)
    Passphrase(state, executor._questions.clock).set("open sesame now", None)
    if not is_closed:
        monkeypatch.setattr(StoredQuestions, "closed", lambda _: None)
    done = executor.execute_code_task(code(READS))
    assert done.escalation is not None
    assert (done.success, done.escalation.code) == (
        (False, "approval-expired") if is_closed else (True, None)
    )
    assert ["passphrase" in str(each.error) for each in executor.listener_failures] == (
        [True] if is_closed else []
    )


def test_the_front_door(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """`from consentry import ControlledExecutor`: it works without any argument."""
    for name, value in host.environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(host.project)
    (host.project / ".consentry").mkdir()
    queue = consentry.CommandQueue()
    with consentry.ControlledExecutor(commands=queue) as executor:
        executor.on_event(lambda _: queue.enqueue({"type": TYPE, "approved": True}))
        task = consentry.Task.from_json(code(READS))
        done = executor.execute_code_task(task)
    assert isinstance(executor, ControlledExecutor)
    assert isinstance(done, consentry.TaskResult)
    assert done.result == "in data"


PROGRAM = """
import consentry, sys
executor = consentry.ControlledExecutor(sys.argv[1])
task = {"id": "a", "type": "code_execution", "language": "python", "code": "1 + 1"}
print(executor.execute_code_task(task).result)
"""


def test_one_that_is_never_closed_ends_with_its_program(host: Host) -> None:
    """Nothing is left behind: no process, no open file, and no session that goes on."""
    words = [sys.executable, "-W", "error", "-X", "dev", "-c", PROGRAM, str(host.project)]
    done = subprocess.run(
        words, env=dict(host.environ), capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.stdout, done.stderr, done.returncode) == ("2\n", "", 0)
    with host.executor() as executor:
        ended = [each["type"] for each in events_of(executor, "session.started", "session.ended")]
    executor.close()
    assert ended == ["session.started", "session.ended", "session.started"]
