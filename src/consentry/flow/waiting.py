"""Puts the question of one execution and waits for the one answer that counts, wherever it comes from.

The question is a row of the store: it outlives this process, and a crash loses nothing. Here it is
shown to the host program, and answered by its queue or by anybody else; one answer wins. Each
execution waits in its own thread for its own question, so that none keeps another from going on.
A deadline that passes denies, as the store says; no clock of ours decides that.
"""

from collections.abc import Callable
from typing import Final, Protocol

from consentry.base.canonical import Digest
from consentry.base.clock import Clock
from consentry.base.codes import Code
from consentry.base.errors import ConsentryError
from consentry.base.values import dataclass
from consentry.decide.approval import ApprovalRequest
from consentry.decide.escalationask import EscalationAsk
from consentry.decide.escalationrequest import format_escalation_request
from consentry.decide.identity import Identity, Role
from consentry.decide.question import Answer, Channel, Outcome
from consentry.flow.commands import (
    CommandQueue,
    CommandType,
    DecisionRequired,
    Expected,
    PermissionEscalationResponse,
)
from consentry.flow.results import HilDecision

_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 1.0
_LOST: Final = (Code.REQUEST_SETTLED, Code.REQUEST_LATE, Code.APPROVAL_SUPERSEDED)


class Questions(Protocol):
    """Where questions are kept, and answered once."""

    @property
    def person(self) -> Identity:
        """Whom this program runs for, and whose answer a response without a name is."""
        ...

    @property
    def clock(self) -> Clock:
        """What the questions are timed by."""
        ...

    def closed(self) -> str | None:
        """Why answers through a queue do not count here; None where they do."""
        ...

    def earlier(self, digest: Digest) -> ApprovalRequest | None:
        """The request that was made with this digest, however it stands."""
        ...

    def put(self, ask: EscalationAsk) -> ApprovalRequest:
        """The request of this execution: a new one, or the one that was made before."""
        ...

    def look(self, request_id: str) -> ApprovalRequest:
        """The request as it stands now; a deadline that passed has denied it."""
        ...

    def answer(self, request_id: str, answer: Answer) -> ApprovalRequest:
        """Records the answer if it is the first and in time, and refuses it otherwise."""
        ...


@dataclass(frozen=True, slots=True)
class Waiting:
    """Asks for the executions of one workflow; threads may share it (an `AskEscalation`)."""

    workflow_id: str
    questions: Questions
    commands: CommandQueue
    emit: Callable[[DecisionRequired], None]
    capture: Callable[[HilDecision], object]

    def earlier(self, digest: Digest) -> ApprovalRequest | None:
        """The request that this execution has made before, in any process; None if none."""
        return self.questions.earlier(digest)

    def __call__(self, ask: EscalationAsk) -> ApprovalRequest:
        """Asks, or joins the question that is pending, and returns it when it has ended."""
        request = self.questions.put(ask)
        if not request.is_pending:
            return request
        kind, request_id = CommandType.PERMISSION_ESCALATION_RESPONSE, request.request_id
        shown = EscalationAsk.of(request)  # what is answered is what is stored
        # The place is there before anybody is told: a listener may answer while it is called.
        with self.commands.expecting(kind, request_id, closed=self.questions.closed()) as place:
            self.emit(self._event(shown, request_id))
            request, is_own = self._ended(request, place)
        capability_id = shown.request.capability_id
        self.capture(HilDecision.of(self.workflow_id, capability_id, request, own_answer=is_own))
        return request

    def _event(self, shown: EscalationAsk, request_id: str) -> DecisionRequired:
        return DecisionRequired(
            timestamp=self.questions.clock.now().unix_ms,
            workflow_id=self.workflow_id,
            description=format_escalation_request(shown.request),
            request_id=request_id,
            ask=shown,
        )

    def _ended(self, request: ApprovalRequest, place: Expected) -> tuple[ApprovalRequest, bool]:
        """The request when it has ended, and whether the queue brought the answer that counts."""
        pause = _FIRST_PAUSE
        while request.is_pending:
            response = place.wait(pause)
            if response is not None:
                return self._answered(request.request_id, response)
            pause = min(2 * pause, _LONGEST_PAUSE)
            request = self.questions.look(request.request_id)
        return request, False

    def _answered(
        self, request_id: str, response: PermissionEscalationResponse
    ) -> tuple[ApprovalRequest, bool]:
        try:
            return self.questions.answer(request_id, self._answer(response)), True
        except ConsentryError as lost:
            if lost.code not in _LOST:
                raise
        return self.questions.look(request_id), False

    def _answer(self, response: PermissionEscalationResponse) -> Answer:
        person = self.questions.person
        by = person if response.by is None else response.by
        return Answer(
            outcome=Outcome.APPROVED if response.approved else Outcome.DENIED,
            by=by,
            role=Role.OWNER if by == person else Role.APPROVER,
            channel=Channel.LIBRARY,
            reason=response.feedback or None,
        )
