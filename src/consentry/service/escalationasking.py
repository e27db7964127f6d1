"""Puts the one question of an execution to the store, and waits for its end there.

Any process may answer it: a terminal, `consentry approve`, a program. Where there is somebody to ask
here they are heard as well, and one answer wins. An execution that was killed while it waited finds
its question again, and joins it. A question is asked under the policy of its workspace, and is
superseded when that changes.
"""

from collections.abc import Callable

from consentry.base.canonical import Digest
from consentry.base.values import dataclass
from consentry.decide.approval import ApprovalRequest
from consentry.decide.escalationask import EscalationAsk
from consentry.decide.question import Question
from consentry.declare.preferences import ApprovalSettings
from consentry.service.approvals import Asker, Desk, Waits
from consentry.service.surroundings import Surroundings
from consentry.store.journal import Journal


@dataclass(frozen=True, slots=True)
class StoredEscalations:
    """Asks at one desk (an `AskEscalation`)."""

    desk: Desk
    around: Surroundings
    asker: Asker | None = None

    def earlier(self, digest: Digest) -> ApprovalRequest | None:
        """The request that this execution has made before, as it stands now."""
        found = self.desk.requests.latest_about(digest, 1)
        return self.desk.look(found[0].request_id) if found else None

    def _question(self, ask: EscalationAsk) -> Question:
        """What is asked, in this session and under the policy of its workspace."""
        from consentry.service.staleness import policy_in  # noqa: PLC0415 - few executions ask

        journal = self.desk.journal
        policy = policy_in(self.around, journal, ask.workspace)
        return ask.question(session_id=journal.context.session_id, policy_hash=policy)

    def put(self, ask: EscalationAsk, waits: Waits = Waits.ESCALATION) -> ApprovalRequest:
        """The request of this execution: a new one, or the one that was made before as it stands."""
        within = waits.within(self.desk.settings)
        request, is_new = self.desk.requests.ask_once(self._question(ask), within)
        return request if is_new else self.desk.look(request.request_id)

    def __call__(self, ask: EscalationAsk) -> ApprovalRequest:
        """The request when it has ended."""
        return self.desk.wait(self.put(ask), self.asker)


def escalation_desk(journal: Journal, settings: ApprovalSettings, around: Surroundings) -> Desk:
    """A desk at which a question that waits is superseded when its policy has changed."""
    return Desk(journal, settings, _policy_watch(around, journal))


def _policy_watch(around: Surroundings, journal: Journal) -> Callable[[ApprovalRequest], bool]:
    watches: list[Callable[[ApprovalRequest], bool]] = []

    def is_stale(request: ApprovalRequest) -> bool:
        from consentry.service.staleness import PolicyWatch  # noqa: PLC0415 - few executions ask

        if not watches:
            watches.append(PolicyWatch(around, journal))
        return watches[0](request)

    return is_stale
