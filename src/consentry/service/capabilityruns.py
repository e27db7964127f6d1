"""Runs a saved capability in its set: an attempt, at most one question, at most one retry.

    attempt     in the effective set; asks nobody
    escalation  only where the attempt failed with a denial; once for an execution, in any process
    retry       in the approved set, with the same arguments, workspace and limits

What a failed attempt wrote is discarded before anything else happens. The stored set is changed by
the transaction that writes the answer, never here. An execution that is started again under its id
finds the question it has put before, and puts no other.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from consentry.base.values import dataclass, field
from consentry.decide.capabilities import Capability, Language
from consentry.decide.escalation_handler import AskEscalation, Escalated
from consentry.enforce.confinement import Limits
from consentry.enforce.native.snippets import SnippetError
from consentry.record.auditfields import Trigger
from consentry.service.approvals import Asker
from consentry.service.codeattempts import (
    Attempt,
    CodeInSet,
    CodePlace,
    OpenIo,
    run_in_set,
)
from consentry.service.surroundings import Surroundings
from consentry.store.journal import Journal
from consentry.surface.permission_sets import PermissionSet

__all__ = [
    "Attempt",
    "CapabilityDesk",
    "CapabilityRun",
    "CapabilityWish",
    "CodeInSet",
    "CodePlace",
    "OpenIo",
    "TaskWish",
    "run_in_set",
]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskWish:
    """Code of a task, whose id stands for that of a capability; nothing of it is stored."""

    task_id: str
    code: CodeInSet
    execution_id: str | None = None


@dataclass(frozen=True, slots=True)
class CapabilityRun:
    """An execution that is over: its attempts in order, and what came of the one question.

    `capability` is as it is stored now; None for the code of a task.
    """

    execution_id: str
    attempts: tuple[Attempt, ...]
    capability: Capability | None
    escalated: Escalated | None = None

    @property
    def last(self) -> Attempt:
        """The attempt whose result and error count."""
        return self.attempts[-1]

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


class CapabilityDesk:
    """Saves capabilities and runs them, under one ledger; to be closed.

    `ask` puts the question of an execution in a way of its own; without it the question is stored
    and waits, `asker` is heard where there is one, and any other process may answer.
    """

    def __init__(
        self,
        journal: Journal,
        around: Surroundings,
        *,
        asker: Asker | None = None,
        ask: AskEscalation | None = None,
        workspace: str | None = None,
        trigger: Trigger = Trigger.USER_COMMAND,
    ) -> None:
        self._place = CodePlace(journal, around, workspace=workspace)
        self._asker = asker
        self._ask = ask
        self._trigger = trigger

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the engines that were kept."""
        self._place.close()

    def save(
        self,
        name: str,
        code: str | Path,
        *,
        language: Language | None = None,
        set_by_hand: PermissionSet | None = None,
    ) -> Capability:
        """Saves the code, or the file's; the language is the file's ending's where none is named."""
        raise NotImplementedError

    def found(self, name_or_id: str) -> Capability:
        """The saved capability; raises `capability-missing`."""
        raise NotImplementedError

    def run(self, wish: CapabilityWish, open_io: OpenIo) -> CapabilityRun:
        """One execution; raises where an attempt could not be started or recorded."""
        raise NotImplementedError

    def run_task(self, wish: TaskWish, open_io: OpenIo) -> CapabilityRun:
        """The same for the code of a task: an approved set holds for its retry only."""
        raise NotImplementedError
