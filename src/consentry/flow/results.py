"""What a host program gets back: how a task ended, and how a person decided.

A task that fails is a result and raises nothing. After a rejection the error is the original one;
`escalation` beside it says what came of asking, with a code where nothing was opened. The text of an
error is the program's own: escape it where it is shown.
"""

from typing import Any, Final

from consentry.base.canonical import Json
from consentry.base.values import dataclass, field
from consentry.decide.approval import ApprovalRequest
from consentry.decide.escalation_handler import Escalated
from consentry.decide.question import Outcome
from consentry.surface.permission_sets import PermissionSet

_ENDINGS: Final = {
    Outcome.DENIED: "approval-denied",
    Outcome.EXPIRED: "approval-expired",
    Outcome.SUPERSEDED: "approval-superseded",
}
PENDING: Final = "approval-pending"


@dataclass(frozen=True, slots=True)
class TaskError:
    """Why a task has no result: an exception of its code, or the limit that ended it."""

    type: str
    message: str
    traceback: str | None = field(default=None, repr=False)

    def __str__(self) -> str:
        return f"{self.type}: {self.message}" if self.message else self.type

    def to_json(self) -> dict[str, Json]:
        """As it is serialised."""
        return {"type": self.type, "message": self.message, "traceback": self.traceback}


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskResult:
    """A task that was executed and recorded.

    `permission_set` is the one of the last attempt; `run_ids` are the attempts in order, as
    `consentry why` explains them. What it printed is that of the last attempt. Of `escalations` the
    first is the one question, if there was one; a second one says that there is no other.
    """

    task_id: str
    execution_id: str
    success: bool
    result: Any = None
    error: TaskError | None = None
    permission_set: PermissionSet
    escalations: tuple[Escalated, ...] = ()
    run_ids: tuple[str, ...] = ()
    stdout: bytes = field(default=b"", repr=False)
    stderr: bytes = field(default=b"", repr=False)

    @property
    def escalation(self) -> Escalated | None:
        """What came of its last denial; None where there was nothing to ask about."""
        return self.escalations[-1] if self.escalations else None

    def to_json(self) -> dict[str, Json]:
        """As it is serialised; what was printed is left out."""
        return {
            "taskId": self.task_id,
            "executionId": self.execution_id,
            "success": self.success,
            "result": self.result,
            "error": None if self.error is None else self.error.to_json(),
            "permissionSet": self.permission_set.value,
            "escalation": None if self.escalation is None else self.escalation.to_json(),
            "runIds": list(self.run_ids),
        }


@dataclass(frozen=True, slots=True)
class EscalationAnswer:
    """The decision about one request; `code` says how it ended where it is no yes."""

    approved: bool
    feedback: str | None = None
    code: str | None = None
    request_id: str | None = None

    def to_json(self) -> dict[str, Json]:
        """The two fields that ESCALATION names; feedback only where there is some."""
        said: dict[str, Json] = {} if self.feedback is None else {"feedback": self.feedback}
        return {"approved": self.approved, **said}


@dataclass(frozen=True, slots=True)
class HilDecision:
    """How a question ended: what was decided, by whom, on which way, and when.

    It is in the ledger already. `own_answer` says whether this executor's queue brought the answer
    that counts: whoever sent another one learns here who was first.
    """

    workflow_id: str
    request_id: str
    capability_id: str
    approved: bool
    status: str
    by: str
    channel: str
    feedback: str | None
    timestamp: int
    own_answer: bool

    @classmethod
    def of(
        cls, workflow_id: str, capability_id: str, request: ApprovalRequest, *, own_answer: bool
    ) -> "HilDecision":
        """The decision of a request that has ended."""
        answer, at = request.answer, request.answered_at
        if answer is None or at is None:
            raise ValueError(f"`{request.request_id}` has not ended")
        return cls(
            workflow_id=workflow_id,
            request_id=request.request_id,
            capability_id=capability_id,
            approved=answer.outcome is Outcome.APPROVED,
            status=answer.outcome.value,
            by=answer.by,
            channel=answer.channel.value,
            feedback=answer.reason,
            timestamp=at.unix_ms,
            own_answer=own_answer,
        )

    def to_json(self) -> dict[str, Json]:
        """As it is serialised."""
        return {
            "type": "hil_decision",
            "timestamp": self.timestamp,
            "workflowId": self.workflow_id,
            "requestId": self.request_id,
            "capabilityId": self.capability_id,
            "approved": self.approved,
            "status": self.status,
            "by": self.by,
            "channel": self.channel,
            "feedback": self.feedback,
            "ownAnswer": self.own_answer,
        }


def answer_of(request: ApprovalRequest) -> EscalationAnswer:
    """What a request came to, in the words of ESCALATION."""
    answer = request.answer
    if answer is None:
        return EscalationAnswer(approved=False, code=PENDING, request_id=request.request_id)
    return EscalationAnswer(
        approved=answer.outcome is Outcome.APPROVED,
        feedback=answer.reason,
        code=_ENDINGS.get(answer.outcome),
        request_id=request.request_id,
    )
