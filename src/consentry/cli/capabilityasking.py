"""Puts the one question of an execution: at this terminal, and to whoever answers elsewhere.

The program is not running meanwhile: its attempt has failed, and what it wrote is gone. Where nobody is
at a terminal the question waits, and this command with it; with `--no-wait` it is left, and the same
execution takes the answer up when it is started again under its id.
"""

from consentry.base.canonical import Digest
from consentry.base.safetext import safe_line
from consentry.base.values import dataclass, replace
from consentry.cli.output import write_message
from consentry.cli.table import PROGRAM
from consentry.decide.approval import ApprovalRequest
from consentry.decide.escalationask import EscalationAsk
from consentry.service.approvals import Asker, Desk, Look, Waits
from consentry.service.escalationasking import StoredEscalations
from consentry.service.surroundings import Surroundings


@dataclass(frozen=True, slots=True)
class TerminalEscalations:
    """Asks for one command; `waits` is whether it waits where nobody can be asked here."""

    desk: Desk
    around: Surroundings
    waits: bool = True

    def earlier(self, digest: Digest) -> ApprovalRequest | None:
        """The request that this execution has made before, as it stands now."""
        return StoredEscalations(self.desk, self.around).earlier(digest)

    def __call__(self, ask: EscalationAsk) -> ApprovalRequest:
        """The request when it has ended; still pending where this command does not wait."""
        asker = self._asker()
        if asker is None and not self.waits:
            return self._left(ask)
        return StoredEscalations(self.desk, self.around, asker or Elsewhere())(ask)

    def _asker(self) -> Asker | None:
        from consentry.cli.prompt import terminal_prompt  # noqa: PLC0415 - most runs ask nobody

        prompt = terminal_prompt(self.around, self.desk.journal, self.desk.settings)
        return None if prompt is None else replace(prompt, comes_after_run=True)

    def _left(self, ask: EscalationAsk) -> ApprovalRequest:
        """Puts the question for whoever comes by, with the time that such a question has."""
        return StoredEscalations(self.desk, self.around).put(ask, Waits.PARKED)


class Elsewhere:
    """Asks nobody here, and says where it can be answered (an `Asker`)."""

    def ask(self, request: ApprovalRequest, look: Look) -> None:  # noqa: ARG002 - the protocol's
        """No answer from here."""
        tell_waiting(request)

    def tell(self, request: ApprovalRequest) -> None:
        """What came of it is told at the end."""


def tell_waiting(request: ApprovalRequest) -> None:
    """Where it can be answered."""
    until = request.deadline.shown()
    write_message(
        f"{PROGRAM}: {safe_line(request.question.text)} waits for an answer until {until}\n"
        f"  {PROGRAM} approve {request.request_id}\n"
        f"  {PROGRAM} deny {request.request_id}"
    )
