"""What a caller wants of a module's action, and what came of it: the values of `moduleactions`."""

from enum import StrEnum
from typing import Any

from consentry.base.canonical import Json
from consentry.base.values import dataclass, field
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilitycheck import CheckResult, CheckState, Origin
from consentry.decide.identity import Role
from consentry.decide.moduleregistration import ActionRun
from consentry.enforce.moduleexport import ExportTarget
from consentry.service.approvals import Asker
from consentry.service.modulegate import Wanted


class ActionStatus(StrEnum):
    """How a call came out."""

    DONE = "done"
    WAITING = "waiting"
    REJECTED = "rejected"


@dataclass(frozen=True, slots=True)
class ActionOutcome:
    """What came of calling an action.

    `states` are those of the capability check, in order. `code` is one of the seven of MODULES, or one of
    the product's own where a command's rule said no. `results` are what the commands answered. Of an action
    whose change is a transaction, its id and state are told; `rollback` is `rolled_back` or `rollback_failed`
    where a violation in the middle forced one.
    """

    status: ActionStatus
    states: tuple[CheckState, ...]
    run: ActionRun
    code: str | None = None
    capability_id: str | None = None
    why: str | None = None
    request_id: str | None = None
    results: tuple[Any, ...] = ()
    transaction_id: str | None = None
    transaction_state: str | None = None
    rollback: str | None = None

    @property
    def ok(self) -> bool:
        """Whether it ran to its end."""
        return self.status is ActionStatus.DONE

    def to_json(self) -> dict[str, Json]:
        """The outcome as it is told, without what the commands answered."""
        return {
            "status": self.status.value,
            "states": [each.value for each in self.states],
            "actionRunId": self.run.action_run_id,
            "moduleId": self.run.module.module_id,
            "actionId": self.run.action_id,
            "code": self.code,
            "capabilityId": self.capability_id,
            "why": self.why,
            "requestId": self.request_id,
            "transactionId": self.transaction_id,
            "transactionState": self.transaction_state,
            "rollback": self.rollback,
        }


@dataclass(frozen=True, slots=True)
class ActionWish:
    """What a caller wants: which action, from where, with what, and whom to ask.

    `asks` says whether a question may be put at all; `waits` whether the call waits for its answer.
    """

    module_id: str
    action_id: str
    origin: Origin = Origin.INTERACTIVE
    arguments: Json = None
    role: Role = Role.OWNER
    target: ExportTarget | None = None
    asker: Asker | None = None
    asks: bool = True
    waits: bool = False
    resumes: ApprovalRequest | None = field(default=None)


def waiting(wanted: Wanted, result: CheckResult, request_id: str) -> ActionOutcome:
    """A call that waits for a person."""
    return ActionOutcome(ActionStatus.WAITING, result.states, wanted.run, request_id=request_id)


def not_done(
    wanted: Wanted,
    result: CheckResult,
    code: str,
    why: str,
    request_id: str | None = None,
    capability_id: str | None = None,
) -> ActionOutcome:
    """A call that did not come to its end, and why."""
    return ActionOutcome(
        ActionStatus.REJECTED,
        result.states,
        wanted.run,
        code=code,
        capability_id=capability_id,
        why=why,
        request_id=request_id,
    )
