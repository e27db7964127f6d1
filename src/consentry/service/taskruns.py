"""Runs the tasks of an executor at a desk of capabilities: in their sets, limits and workspace.

What a task may read besides its set lies below the workspace and in no place that is never granted:
a task is data that a host program was given, and may come from anywhere.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NoReturn

from consentry.base.codes import Code
from consentry.base.errors import BadInput, Refused, Where
from consentry.decide.capabilities import Language, determine_permission_set
from consentry.decide.escalation import denials_said, reason_of
from consentry.decide.escalation_handler import AskEscalation
from consentry.decide.escalationask import REPORTED, EscalationAsk
from consentry.decide.escalationdelta import added_in_words
from consentry.decide.escalationreach import DENO, NATIVE, NotOpened, least_covering
from consentry.decide.escalationrequest import PermissionEscalationRequest
from consentry.decide.permissionaudit import EscalationRefusal
from consentry.enforce.confinement import Limits
from consentry.enforce.native.streamends import Io
from consentry.flow.results import TaskError, TaskResult
from consentry.flow.tasks import SandboxConfig, Task
from consentry.record.auditfields import ExecutionStatus
from consentry.service.binding import named_place, protected_in, workspace_here
from consentry.service.capabilityruns import CapabilityDesk, CapabilityRun, CapabilityWish, TaskWish
from consentry.service.codeinset import CodeInSet
from consentry.service.programsearch import is_protected
from consentry.service.surroundings import Surroundings
from consentry.surface.permission_sets import definition
from consentry.surface.protected import ProtectedRoots

_MILLISECONDS: Final = 1000
_BY_ITSELF: Final = (ExecutionStatus.SUCCESS, ExecutionStatus.FAILURE)
_ENDED: Final = "it was ended before it gave a result"


class TaskRuns:
    """The tasks of one executor (a `TaskRunner`); threads may share it.

    `person` is on whose behalf they run; `network` narrows what sets open.
    """

    def __init__(
        self,
        desk: CapabilityDesk,
        person: str,
        around: Surroundings,
        workspace: str | None = None,
        network: tuple[str, ...] = (),
    ) -> None:
        self.desk = desk
        self._person = person
        self._around = around
        self._workspace = workspace
        self._network = network

    def run_capability(
        self, task: Task, execution_id: str, ask: AskEscalation | None
    ) -> TaskResult:
        """A saved capability, in its stored set."""
        wish = CapabilityWish(
            name_or_id=str(task.capability_id),
            arguments=task.arguments,
            network=self._network,
            limits=_limits(task.sandbox_config),
            execution_id=execution_id,
        )
        return _result(task, self.desk.run(wish, _kept, ask=ask, escalates=ask is not None))

    def run_code(self, task: Task, execution_id: str, ask: AskEscalation | None) -> TaskResult:
        """Code of the task's own, in the set of its `sandbox_config`."""
        config = task.sandbox_config
        code = CodeInSet(
            code=task.code or "",
            language=task.language or Language.TYPESCRIPT,
            name=task.id,
            permission_set=config.permission_set,
            arguments=task.arguments,
            network=self._network,
            read=self._readable(config.allowed_read_paths),
            limits=_limits(config),
        )
        wish = TaskWish(task_id=task.id, code=code, execution_id=execution_id)
        return _result(task, self.desk.run_task(wish, _kept, ask=ask, escalates=ask is not None))

    def _readable(self, paths: tuple[str, ...]) -> tuple[str, ...]:
        if not paths:
            return ()
        workspace = workspace_here(self._around, self._workspace)
        protected = protected_in(paths, workspace, workspace, self._around)
        return tuple(
            _below(f"sandboxConfig.allowedReadPaths[{index}]", each, workspace, protected)
            for index, each in enumerate(paths)
        )

    def ask_for(self, request: PermissionEscalationRequest, execution_id: str) -> EscalationAsk:
        """The whole question for a request that a host program makes; raises where none is put.

        What the request says of a denial is the host program's word, and the question is headed so.
        """
        stored = self.desk.store.find(request.capability_id)
        if stored is not None and determine_permission_set(stored) is not request.current_set:
            message = f"`{stored.name}` runs in `{determine_permission_set(stored)}`"
            raise Refused(Code.PERMISSION_STEP, f"{message}, and not in `{request.current_set}`")
        engine = DENO if stored is None or stored.language is not Language.PYTHON else NATIVE
        workspace = workspace_here(self._around, self._workspace)
        ask = EscalationAsk(
            request=request,
            execution_id=execution_id,
            engine=engine,
            ephemeral=stored is None,
            code_hash=None if stored is None else stored.code_hash,
            version=None if stored is None else stored.version,
            truth_note=REPORTED,
            delta=added_in_words(
                request.current_set,
                request.requested_set,
                self._network,
                is_stored=stored is not None,
            ),
            workspace=str(workspace),
            network=self._network,
            name=None if stored is None else stored.name,
            user_id=self._person,
        )
        self._require_opened(ask, protected_in((), workspace, workspace, self._around))
        return ask

    def _require_opened(self, ask: EscalationAsk, protected: ProtectedRoots) -> None:
        """Raises, and records it, where the set that is asked for would not open what was denied."""
        request = ask.request
        denied = denials_said(request.reason)
        if not denied:
            return
        try:
            wanted = least_covering(
                denied,
                request.current_set,
                ask.workspace,
                ask.engine,
                self._network,
                protected=protected,
            )
            if not definition(wanted).surface <= definition(request.requested_set).surface:
                message = f"`{request.requested_set}` does not open it, and `{wanted}` does"
                raise NotOpened(Code.ESCALATION_UNCOVERED, message, denied[0])
        except NotOpened as refusal:
            self._log(ask, refusal)
            raise

    def _log(self, ask: EscalationAsk, refusal: NotOpened) -> None:
        denied = refusal.denied
        self.desk.audit.log_refusal(
            EscalationRefusal(
                capability_id=ask.request.capability_id,
                from_set=ask.request.current_set,
                code=refusal.code,
                detected_operation=denied.operation.value,
                reason=reason_of(ask.request.reason),
                execution_id=ask.execution_id,
                resource=denied.resource,
                ephemeral=ask.ephemeral,
            )
        )


def _below(name: str, path: str, workspace: Path, protected: ProtectedRoots) -> str:
    """The path, if it lies below the workspace, also where links lead, and may be granted."""
    place = named_place(path, workspace)
    real = Path(os.path.realpath(place))
    if not place.is_relative_to(workspace) or not real.is_relative_to(workspace):
        _refuse(name, f"`{path}` does not lie in the workspace `{workspace}`")
    if is_protected(place, protected) or is_protected(real, protected):
        raise Refused(Code.PROTECTED_ROOT, f"`{path}` is never granted", where=Where(field=name))
    return path


def _refuse(name: str, message: str) -> NoReturn:
    help_line = "copy what the task needs into the workspace"
    raise BadInput(Code.DOCUMENT_INVALID, message, where=Where(field=name), help_line=help_line)


def _limits(config: SandboxConfig) -> Limits:
    timeout, memory = config.timeout, config.memory_limit
    return Limits(
        wall_seconds=None if timeout is None else timeout.milliseconds / _MILLISECONDS,
        memory_bytes=None if memory is None else memory.count,
    )


def _result(task: Task, over: CapabilityRun) -> TaskResult:
    last = over.last
    return TaskResult(
        task_id=task.id,
        execution_id=over.execution_id,
        success=over.is_success,
        result=over.result if over.is_success else None,
        error=None if over.is_success else _error(over),
        permission_set=last.code.permission_set,
        escalations=over.escalations,
        run_ids=tuple(each.run.audit_id for each in over.attempts),
        stdout=last.run.outcome.stdout,
        stderr=last.run.outcome.stderr,
    )


def _error(over: CapabilityRun) -> TaskError:
    """What the code raised; or the word that the record has for how it was ended."""
    said, run = over.error, over.last.run
    if said is not None and run.status in _BY_ITSELF:
        return TaskError(said.type, said.message, said.traceback or None)
    discarded = run.facts.impact.discarded
    return TaskError(run.status.value, discarded or run.outcome.limit or _ENDED)


@contextmanager
def _kept(_: str) -> Iterator[Io]:
    yield Io(keeps=True)
