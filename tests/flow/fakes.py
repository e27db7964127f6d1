"""A runner that is told how attempts end, in place of the port of that name; the store is real.

What runs code for an executor is tested with real sandboxes in `tests/service/test_executing.py`. Here
the port is a plain stand-in, so that what the executor itself does can be seen alone.
"""

from dataclasses import dataclass, field

from consentry.base.canonical import Digest, digest_bytes
from consentry.base.clock import Clock
from consentry.base.units import Duration
from consentry.base.values import dataclass as value
from consentry.decide.approval import ApprovalRequest
from consentry.decide.escalation_handler import AskEscalation, Escalated
from consentry.decide.escalationask import EscalationAsk
from consentry.decide.escalationrequest import PermissionEscalationRequest
from consentry.decide.identity import Identity
from consentry.decide.question import Answer, Outcome
from consentry.flow.results import TaskError, TaskResult, answer_of
from consentry.flow.tasks import Task
from consentry.store.journal import Journal
from consentry.store.requests import StoredRequests
from consentry.surface.permission_sets import PermissionSet

DENIED = "PermissionDenied: Requires net access to api.example.com:443"
FIVE_MINUTES = Duration(300_000)


@value(frozen=True, slots=True)
class KeptQuestions:
    """The requests of a real store, as the executor's port has them."""

    journal: Journal
    within: Duration = FIVE_MINUTES
    why_closed: str | None = None

    @property
    def requests(self) -> StoredRequests:
        """The requests themselves."""
        journal = self.journal
        return StoredRequests(journal.ledger, journal.ids, journal.clock, journal.context)

    @property
    def person(self) -> Identity:
        """Whoever the journal names."""
        return self.journal.context.actor

    @property
    def clock(self) -> Clock:
        """The journal's."""
        return self.journal.clock

    def closed(self) -> str | None:
        """As the test said."""
        return self.why_closed

    def earlier(self, digest: Digest) -> ApprovalRequest | None:
        """The first with that digest."""
        found = self.requests.about(digest)
        return found[0] if found else None

    def put(self, ask: EscalationAsk) -> ApprovalRequest:
        """Asks once."""
        question = ask.question(session_id=None, policy_hash=None)
        return self.requests.ask_once(question, self.within)[0]

    def look(self, request_id: str) -> ApprovalRequest:
        """As it stands; what is overdue is expired first."""
        self.requests.expire_overdue()
        found = self.requests.find(request_id)
        assert found is not None
        return found

    def answer(self, request_id: str, answer: Answer) -> ApprovalRequest:
        """Records it."""
        return self.requests.answer(request_id, answer)


@dataclass
class FakeRunner:
    """Denies the network to every set that has none; a question is put as the handler puts it."""

    ran: list[tuple[str, PermissionSet]] = field(default_factory=list)

    def run_capability(
        self, task: Task, execution_id: str, ask: AskEscalation | None
    ) -> TaskResult:
        """As for code; there is no stored set here."""
        return self.run_code(task, execution_id, ask)

    def run_code(self, task: Task, execution_id: str, ask: AskEscalation | None) -> TaskResult:
        """An attempt, one question, one retry."""
        current = task.sandbox_config.permission_set
        self.ran.append((task.id, current))
        if current is PermissionSet.NETWORK_API or ask is None:
            return _ended(task, execution_id, current, None)
        request = self.requested(task.id, current)
        settled = ask(self.ask_for(request, execution_id))
        answer = answer_of(settled)
        escalated = Escalated(
            approved=settled.status == Outcome.APPROVED,
            new_set=request.requested_set if answer.approved else None,
            code=answer.code,
            feedback=answer.feedback,
            request=request,
            request_id=settled.request_id,
        )
        reached = escalated.new_set or current
        if escalated.approved:
            self.ran.append((task.id, reached))
        return _ended(task, execution_id, reached, escalated)

    def requested(self, task_id: str, current: PermissionSet) -> PermissionEscalationRequest:
        """The step that opens the network."""
        return PermissionEscalationRequest(
            task_id, current, PermissionSet.NETWORK_API, DENIED, "net", 0.95
        )

    def ask_for(self, request: PermissionEscalationRequest, execution_id: str) -> EscalationAsk:
        """The question of a code task."""
        return EscalationAsk(
            request,
            execution_id,
            "native",
            ephemeral=True,
            code_hash=digest_bytes(b"code"),
            delta=("reaches any public host",),
        )


def _ended(
    task: Task, execution_id: str, reached: PermissionSet, escalated: Escalated | None
) -> TaskResult:
    is_enough = reached is PermissionSet.NETWORK_API
    return TaskResult(
        task_id=task.id,
        execution_id=execution_id,
        success=is_enough,
        result="fetched" if is_enough else None,
        error=None if is_enough else TaskError("PermissionDenied", DENIED),
        permission_set=reached,
        escalations=() if escalated is None else (escalated,),
    )
