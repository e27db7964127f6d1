"""`ControlledExecutor`: executes tasks in their permission sets, and asks a person once where one is too small.

    execute_capability_task   a saved capability; a yes changes its stored set for good
    execute_code_task         code of the task's own; a yes holds for that execution only
    request_permission_escalation   the question alone

What runs code and what keeps questions are given to it (`TaskRunner`, `Questions`); this class says
which execution it is, puts its question to the host program, and takes the answer. Rules kept:
- An execution is a task in a workflow. Started again after a crash it is the same one: it finds the
  question that it has put, and puts no second.
- A question waits in the thread of its own task. Other tasks go on.
- A task that fails is a result with the original error. What is raised is misuse, or a run that could
  not be started or recorded.

In this process only: it orders no tasks and keeps no queue of them; what survives a crash is what the
store has, the question and its answer.
"""

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, Final, Protocol, Self, TypeAlias

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.ids import IdSource
from consentry.base.values import dataclass, replace
from consentry.decide.escalation_handler import AskEscalation
from consentry.decide.escalationask import EscalationAsk
from consentry.decide.escalationreach import NotOpened
from consentry.decide.escalationrequest import PermissionEscalationRequest
from consentry.decide.permissionaudit import PermissionAudit
from consentry.flow.commands import (
    Command,
    CommandQueue,
    CommandType,
    DecisionRequired,
)
from consentry.flow.events import ListenerFailure, Listeners, Stream
from consentry.flow.results import EscalationAnswer, HilDecision, TaskResult, answer_of
from consentry.flow.tasks import SandboxConfig, Task, TaskType, check_task_id, execution_of
from consentry.flow.waiting import Questions, Waiting
from consentry.surface.permission_sets import PermissionSet

DECISION_SECONDS: Final = 300.0
"""How long a decision is waited for where nothing else is said."""

WORKFLOW: Final = "workflow"
EXECUTION: Final = "execution"

_MOST_DECISIONS: Final = 1000

OnEvent: TypeAlias = Callable[[DecisionRequired], object]
OnDecision: TypeAlias = Callable[[HilDecision], object]


class TaskRunner(Protocol):
    """Runs a task: an attempt, at most one question through `ask`, at most one retry.

    Threads may share it. Without `ask` nobody is asked, and a denial stays one. A task that fails is
    a result; what could not be started is raised.
    """

    def run_capability(
        self, task: Task, execution_id: str, ask: AskEscalation | None
    ) -> TaskResult:
        """A saved capability, in its stored set."""
        ...

    def run_code(self, task: Task, execution_id: str, ask: AskEscalation | None) -> TaskResult:
        """Code of the task's own, in the set of its `sandbox_config`."""
        ...

    def ask_for(self, request: PermissionEscalationRequest, execution_id: str) -> EscalationAsk:
        """The whole question for a request that a host program makes; raises where none is put.

        `NotOpened` where nobody may be asked: that is recorded, and answered with its code.
        """
        ...


@dataclass(frozen=True, slots=True)
class Ports:
    """What an executor is given: who runs, who keeps questions, who logs, and who makes ids."""

    runner: TaskRunner
    questions: Questions
    ids: IdSource
    audit: PermissionAudit | None = None


class ControlledExecutor:
    """Executes the tasks of one workflow; threads may share it."""

    def __init__(
        self,
        ports: Ports,
        *,
        workflow_id: str | None = None,
        commands: CommandQueue | None = None,
        on_event: OnEvent | None = None,
        on_decision: OnDecision | None = None,
    ) -> None:
        self._ports = ports
        self._audit = ports.audit
        made = ports.ids.new(WORKFLOW) if workflow_id is None else workflow_id
        self.workflow_id = check_task_id("workflowId", made)
        self.commands = CommandQueue() if commands is None else commands
        self._events: Listeners[DecisionRequired] = Listeners()
        self._decided: Listeners[HilDecision] = Listeners()
        self._decisions: deque[HilDecision] = deque(maxlen=_MOST_DECISIONS)
        if on_event is not None:
            self._events.add(on_event)
        if on_decision is not None:
            self._decided.add(on_decision)

    def execute_capability_task(self, task: Task | Mapping[str, object]) -> TaskResult:
        """Executes a saved capability; asks once where its set is too small, and tries again.

        Args:
            task: a task of the type `capability`, or its JSON form.

        Raises:
            ConsentryError: it is no such task, there is no such capability, or an attempt could not
                be started or recorded; the code says which.
        """
        read = Task.of(task, TaskType.CAPABILITY)
        execution_id = execution_of(self.workflow_id, read.id)
        return self._ports.runner.run_capability(read, execution_id, self._asking())

    def execute_code_task(
        self,
        task: Task | Mapping[str, object],
        permission_set: PermissionSet | str | None = None,
    ) -> TaskResult:
        """Executes code; a larger set that is approved holds for this execution only.

        Args:
            task: a task of the type `code_execution`, or its JSON form.
            permission_set: the set to run in, instead of the one that the task says.

        Raises:
            ConsentryError: as for `execute_capability_task`.
        """
        read = Task.of(task, TaskType.CODE_EXECUTION)
        if permission_set is not None:
            read = _in_set(read, PermissionSet.named(permission_set))
        execution_id = execution_of(self.workflow_id, read.id)
        return self._ports.runner.run_code(read, execution_id, self._asking())

    def request_permission_escalation(
        self,
        request: PermissionEscalationRequest | Mapping[str, Any],
        *,
        execution_id: str | None = None,
    ) -> EscalationAnswer:
        """Asks a person for a larger set, and returns their decision; nobody in time is a no.

        A yes to a saved capability changes its stored set, as the text says that they are shown; for
        any other id nothing is stored.

        Args:
            request: the step that is asked for; or its JSON form.
            execution_id: the execution that asks, which asks once; a new one where none is named.

        Raises:
            ConsentryError: this executor asks nobody, or the request is not about the capability as
                it is stored.
        """
        self._require_dependencies()
        named = execution_id or self._ports.ids.new(EXECUTION)
        step = (
            request
            if isinstance(request, PermissionEscalationRequest)
            else PermissionEscalationRequest.from_json(request)
        )
        try:
            ask = self._ports.runner.ask_for(step, named)
        except NotOpened as refusal:
            return EscalationAnswer(
                approved=False, feedback=refusal.message, code=refusal.code.value
            )
        settled = self._waiting()(ask)
        if not _is_same_step(EscalationAsk.of(settled), ask):
            message = f"`{named}` has asked for another step in `{settled.request_id}`"
            code = Code.ESCALATION_SPENT.value
            return EscalationAnswer(approved=False, feedback=message, code=code)
        return answer_of(settled)

    def wait_for_decision_command(
        self,
        command_type: CommandType | str = CommandType.PERMISSION_ESCALATION_RESPONSE,
        timeout: float = DECISION_SECONDS,
    ) -> Command | None:
        """The next command of that type that names no question, or None after so many seconds.

        A command that answers a question of this executor goes there and not here.
        """
        return self.commands.wait(command_type, timeout)

    def capture_hil_decision(self, decision: HilDecision) -> HilDecision:
        """Keeps a decision in sight of the host program and tells who listens; the ledger has it."""
        self._decisions.append(decision)
        self._decided.tell(decision)
        return decision

    def set_permission_escalation_dependencies(self, audit_store: PermissionAudit | None) -> None:
        """Sets where decisions are looked up; None puts no question any more: a denial stays one."""
        self._audit = audit_store

    def get_permission_audit_store(self) -> PermissionAudit | None:
        """Where decisions are logged and looked up; None where escalation is off."""
        return self._audit

    @property
    def decisions(self) -> tuple[HilDecision, ...]:
        """How the questions of this executor ended, the oldest first; the last thousand."""
        return tuple(self._decisions)

    def on_event(self, callback: OnEvent) -> Callable[[], None]:
        """Calls it with every `decision_required` from now on; what is returned takes it off."""
        return self._events.add(callback)

    def on_decision(self, callback: OnDecision) -> Callable[[], None]:
        """Calls it with every decision from now on; what is returned takes it off."""
        return self._decided.add(callback)

    def events(self) -> Stream[DecisionRequired]:
        """A stream of every `decision_required` from now on: `get(timeout)`, or iterate."""
        return self._events.stream()

    @property
    def listener_failures(self) -> tuple[ListenerFailure, ...]:
        """What listeners raised; it broke nothing."""
        return (*self._events.failures, *self._decided.failures)

    def close(self) -> None:
        """Ends the streams of events."""
        self._events.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _asking(self) -> Waiting | None:
        return None if self._audit is None else self._waiting()

    def _waiting(self) -> Waiting:
        return Waiting(
            self.workflow_id,
            self._ports.questions,
            self.commands,
            self._events.tell,
            self.capture_hil_decision,
        )

    def _require_dependencies(self) -> None:
        if self._audit is None:
            raise UsageProblem(
                Code.USAGE,
                "nobody is asked: this executor has no audit store",
                help_line="give it one with `set_permission_escalation_dependencies`",
            )


def _in_set(task: Task, permission_set: PermissionSet) -> Task:
    config: SandboxConfig = replace(task.sandbox_config, permission_set=permission_set)
    return replace(task, sandbox_config=config)


def _is_same_step(asked: EscalationAsk, wanted: EscalationAsk) -> bool:
    """Whether an answer to the one is an answer to the other: an execution asks once."""
    return (asked.request.current_set, asked.request.requested_set) == (
        wanted.request.current_set,
        wanted.request.requested_set,
    ) and (asked.ephemeral, asked.code_hash, asked.version) == (
        wanted.ephemeral,
        wanted.code_hash,
        wanted.version,
    )
