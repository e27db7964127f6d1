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
from consentry.service.approvals import Desk, Waits
from consentry.service.surroundings import Surroundings


@dataclass(frozen=True, slots=True)
class TerminalEscalations:
    """Asks for one command; `waits` is whether it waits where nobody can be asked here."""

    desk: Desk
    around: Surroundings
    waits: bool = True

    def earlier(self, digest: Digest) -> ApprovalRequest | None:
        """The request that this execution has made before, as it stands now."""
        found = self.desk.requests.latest_about(digest, 1)
        return self.desk.look(found[0].request_id) if found else None

    def __call__(self, ask: EscalationAsk) -> ApprovalRequest:
        """The request when it has ended; still pending where this command does not wait."""
        from consentry.cli.prompt import terminal_prompt  # noqa: PLC0415 - most runs ask nobody

        desk = self.desk
        prompt = terminal_prompt(self.around, desk.journal, desk.settings)
        is_left = prompt is None and not self.waits
        within = (Waits.PARKED if is_left else Waits.ESCALATION).within(desk.settings)
        question = ask.question(session_id=desk.journal.context.session_id, policy_hash=None)
        request, _ = desk.requests.ask_once(question, within)
        if prompt is not None:
            return desk.wait(request, replace(prompt, comes_after_run=True))
        if not request.is_pending:
            return request
        _tell_waiting(request)
        return request if is_left else desk.wait(request)


def _tell_waiting(request: ApprovalRequest) -> None:
    """Where it can be answered."""
    until = request.deadline.shown()
    write_message(
        f"{PROGRAM}: {safe_line(request.question.text)} waits for an answer until {until}\n"
        f"  {PROGRAM} approve {request.request_id}\n"
        f"  {PROGRAM} deny {request.request_id}"
    )
