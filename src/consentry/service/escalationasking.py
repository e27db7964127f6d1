"""Puts the one question of an execution to the store, and waits for its end there.

Any process may answer it: a terminal, `consentry approve`, a program. Where there is somebody to ask
here they are heard as well, and one answer wins. An execution that was killed while it waited finds
its question again, and joins it.
"""

from consentry.base.canonical import Digest
from consentry.base.values import dataclass
from consentry.decide.approval import ApprovalRequest
from consentry.decide.escalationask import EscalationAsk
from consentry.service.approvals import Asker, Desk, Waits


@dataclass(frozen=True, slots=True)
class StoredEscalations:
    """Asks at one desk (an `AskEscalation`)."""

    desk: Desk
    asker: Asker | None = None

    def earlier(self, digest: Digest) -> ApprovalRequest | None:
        """The request that this execution has made before, as it stands now."""
        found = self.desk.requests.latest_about(digest, 1)
        return self.desk.look(found[0].request_id) if found else None

    def __call__(self, ask: EscalationAsk) -> ApprovalRequest:
        """The request when it has ended."""
        desk = self.desk
        session_id = desk.journal.context.session_id
        question = ask.question(session_id=session_id, policy_hash=None)
        request, _ = desk.requests.ask_once(question, Waits.ESCALATION.within(desk.settings))
        return desk.wait(request, self.asker)
