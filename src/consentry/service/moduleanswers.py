"""Answers that the person at a host gives to what its modules ask.

Only questions of this host's own modules are answered here, and only with an answer that they take. Where
an approval passphrase is set, an answer needs it as at a terminal: whoever holds the host object speaks
for the person, and proves nobody's presence.
"""

from consentry.base.codes import Code
from consentry.base.errors import Refused, UsageProblem
from consentry.base.values import dataclass
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilityask import CapabilityDecision
from consentry.decide.lasting import Lasts
from consentry.decide.question import Answer, Outcome, RequestKind
from consentry.service.approvals import Desk
from consentry.service.ledgers import ledger_place
from consentry.service.passphrase import Passphrase
from consentry.service.surroundings import Surroundings

_OF_MODULES = (RequestKind.CAPABILITY, RequestKind.ACTION, RequestKind.TRANSACTION)
ONCE = "approve_once"
"""What a command's own approval takes besides the three decisions about capabilities."""


@dataclass(frozen=True, slots=True)
class ModuleAnswers:
    """The questions of one host's modules, as the person at the host answers them."""

    host_id: str
    around: Surroundings
    desk: Desk

    def pending(self) -> list[ApprovalRequest]:
        """What waits for an answer."""
        return [each for each in self.desk.pending() if self._is_ours(each)]

    def found(self, request_id: str) -> ApprovalRequest:
        """The request as it stands; raises where no module of this host asked it."""
        request = self.desk.look(self.desk.found(request_id).request_id)
        if not self._is_ours(request):
            message = f"`{request.request_id}` was not asked by a module of this host"
            raise Refused(Code.ANSWER_REFUSED, message)
        return request

    def give(self, request_id: str, answer: Answer, passphrase: str | None) -> ApprovalRequest:
        """Records the answer, if it is the first and in time."""
        request = self.found(request_id)
        self._require_passphrase(passphrase)
        return self.desk.answer(request.request_id, answer)

    def _is_ours(self, request: ApprovalRequest) -> bool:
        question = request.question
        if question.kind not in _OF_MODULES:
            return False
        preview = question.preview
        return isinstance(preview, dict) and preview.get("hostId") == self.host_id

    def _require_passphrase(self, given: str | None) -> None:
        passphrase = Passphrase(ledger_place(self.around).folder, self.desk.journal.clock)
        if self.desk.settings.passphrase or passphrase.is_set:
            passphrase.check(given or "")


def decided(decision: CapabilityDecision | str) -> tuple[Outcome, Lasts | None]:
    """What a decision means, and for how long a yes is."""
    if decision == ONCE:
        return Outcome.APPROVED, Lasts.ONCE
    try:
        known = CapabilityDecision(decision)
    except ValueError:
        words = ", ".join((*CapabilityDecision, ONCE))
        message = f"`{decision}` is not one of {words}"
        raise UsageProblem(Code.USAGE, message) from None
    is_no = known is CapabilityDecision.DENY
    return (Outcome.DENIED, None) if is_no else (Outcome.APPROVED, known.lasts)
