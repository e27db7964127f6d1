"""One execution of a saved capability, or of a task's code: what is wished, and what came of it.

An execution has an id, which a caller may give. It is what an escalation is counted by: started again
under its id, in whichever process, it is the same one.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from consentry.base.codes import Code
from consentry.base.errors import UsageProblem
from consentry.base.values import dataclass, field, replace
from consentry.decide.capabilities import Capability, digest_of_code
from consentry.decide.capabilitycode import is_capability_id, subject_of
from consentry.decide.escalation_handler import AskEscalation, Escalated, Failed
from consentry.enforce.confinement import Limits
from consentry.enforce.native.snippets import SnippetError
from consentry.service.codeinset import Attempt, CodeInSet
from consentry.service.rundecision import InSet
from consentry.surface.permission_sets import PermissionSet

PREFIX: Final = "execution"
"""How the ids of executions begin that are made here."""

FIRST, RETRY = 1, 2
"""The attempts of an execution; there is no third."""

_LONGEST_ID: Final = 256


def _check_id(what: str, given: str | None) -> None:
    """Raises for an id that no record could name."""
    if given is not None and not (0 < len(given) <= _LONGEST_ID and given.isprintable()):
        raise UsageProblem(Code.USAGE, f"`{given[:_LONGEST_ID]}` is not the id of {what}")


@dataclass(frozen=True, slots=True)
class CapabilityWish:
    """Which capability is to run, and with what.

    `network` narrows what the set opens. An `execution_id` names an execution that may have begun
    before; without one it is a new one.
    """

    name_or_id: str
    arguments: Mapping[str, Any] = field(default_factory=dict, hash=False)
    network: tuple[str, ...] = ()
    limits: Limits = field(default_factory=Limits)
    execution_id: str | None = None
    holds: bool = False

    def __post_init__(self) -> None:
        _check_id("an execution", self.execution_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskWish:
    """Code of a task, whose id stands for that of a capability; nothing of it is stored."""

    task_id: str
    code: CodeInSet
    execution_id: str | None = None

    def __post_init__(self) -> None:
        _check_id("a task", self.task_id)
        _check_id("an execution", self.execution_id)
        if self.code.permission_set is PermissionSet.TRUSTED:
            message = f"`{PermissionSet.TRUSTED}` is never given to the code of a task"
            raise UsageProblem(Code.PERMISSION_SET, message)
        if is_capability_id(self.task_id):
            # The log of decisions has one column for both: one would pass for the other.
            message = f"`{self.task_id}` is the id of a capability, and no task is called so"
            raise UsageProblem(Code.USAGE, message)


@dataclass(frozen=True, slots=True)
class CapabilityRun:
    """An execution that is over: its attempts in order, and what came of its denials.

    `capability` is as it is stored now; None for the code of a task. Of `escalations` the first is
    the one question, if there was one; a second one says that there is no other.
    """

    execution_id: str
    attempts: tuple[Attempt, ...]
    capability: Capability | None
    escalations: tuple[Escalated, ...] = ()

    @property
    def last(self) -> Attempt:
        """The attempt whose result and error count."""
        return self.attempts[-1]

    @property
    def escalated(self) -> Escalated | None:
        """What came of its last denial; None where there was nothing to ask about."""
        return self.escalations[-1] if self.escalations else None

    @property
    def result(self) -> object:
        """What the last attempt gave back."""
        return self.last.result

    @property
    def error(self) -> SnippetError | None:
        """What the last attempt raised: after a rejection, the original error."""
        return self.last.error

    @property
    def is_success(self) -> bool:
        """Whether there is a result."""
        return self.last.is_success


@dataclass(frozen=True, slots=True)
class Execution:
    """One execution: of which code, in whose name, and who asks for it; None asks nobody.

    `is_known` says that a caller named it, so that it may have begun before.
    """

    execution_id: str
    code: CodeInSet
    capability_id: str
    capability: Capability | None
    ask: Callable[[], AskEscalation] | None
    is_known: bool = False

    @property
    def subject(self) -> str:
        """What permits and records name."""
        return subject_of(self.capability_id, ephemeral=self.capability is None)

    def in_set(self, code: CodeInSet, number: int) -> InSet:
        """What is recorded of an attempt."""
        said = InSet(
            capability_id=self.capability_id,
            name=self.code.name,
            code_hash=digest_of_code(code.code),
            permission_set=code.permission_set,
            execution_id=self.execution_id,
            attempt=number,
        )
        stored = self.capability
        if stored is None:
            return said
        return replace(
            said,
            version=stored.version,
            stored_set=stored.permission_set,
            confidence=stored.permission_confidence,
            source=stored.permission_source.value,
        )

    def failed(self, attempt: Attempt, denial: str) -> Failed:
        """What the handler is told."""
        stored, error = self.capability, attempt.error
        return Failed(
            execution_id=self.execution_id,
            capability_id=self.capability_id,
            current_set=attempt.code.permission_set,
            error=denial,
            original_error=denial if error is None else f"{error.type}: {error.message}",
            engine=attempt.engine,
            ephemeral=stored is None,
            code_hash=digest_of_code(self.code.code),
            version=None if stored is None else stored.version,
            so_far=attempt.so_far,
            workspace=str(attempt.run.facts.bound.confinement.workspace),
            allowlist=self.code.network,
            arguments=dict(self.code.arguments),
            name=self.code.name,
        )
