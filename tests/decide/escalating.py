"""A saved capability on a real store, and a person who is asked about it.

The person is a second program on the same store: it finds the request that was put and answers it.
"""

from collections.abc import Callable

from consentry.base.canonical import Digest
from consentry.base.units import Duration
from consentry.decide.approval import ApprovalRequest
from consentry.decide.capabilities import Capability, Inferred, Language, determine_permission_set
from consentry.decide.escalation_handler import (
    Escalated,
    Failed,
    PermissionEscalationHandler,
)
from consentry.decide.escalationask import EscalationAsk
from consentry.decide.identity import Role
from consentry.decide.question import Outcome
from consentry.surface.permission_sets import PermissionSet
from consentry.surface.protected import protected_roots
from tests.decide.samples import APPROVER, OWNER, answer
from tests.store.keepers import Keepers, events, pass_time

MINIMAL, READONLY, FILESYSTEM, NETWORK, STANDARD, TRUSTED = PermissionSet
FIVE_MINUTES = Duration(5 * 60_000)
NET = "PermissionDenied: Requires net access to api.example.com:443"
READ = "PermissionDenied: Requires read access to /place/project/data/a"
TODAY = (
    'NotCapable: Requires net access to "api.example.com:443", run again with the --allow-net flag'
)
YES = answer(by=APPROVER, role=Role.APPROVER)
NO = answer(Outcome.DENIED, by=APPROVER, role=Role.APPROVER, reason="not this host")
REFUSED_EVENT = "permission.escalation.refused"


class Person:
    """Answers what is put, through the store."""

    def __init__(self, keepers: Keepers) -> None:
        self.keepers = keepers
        self.answers: Callable[[ApprovalRequest], object] = self.say(YES)
        self.asks: list[EscalationAsk] = []

    def say(self, given: object) -> Callable[[ApprovalRequest], object]:
        """One answer, always the same."""
        return lambda request: self.keepers.requests.answer(request.request_id, given)  # type: ignore[arg-type]

    def be_away(self, request: ApprovalRequest) -> None:
        """Nobody answers until the deadline has passed."""
        del request
        pass_time(self.keepers, FIVE_MINUTES)
        pass_time(self.keepers, Duration(1))
        self.keepers.requests.expire_overdue()

    def earlier(self, digest: Digest) -> ApprovalRequest | None:
        """What this execution asked before."""
        return next(iter(self.keepers.requests.about(digest)), None)

    def __call__(self, ask: EscalationAsk) -> ApprovalRequest:
        """Puts the question once and waits for what comes of it."""
        self.asks.append(ask)
        question = ask.question(session_id=None, policy_hash=None)
        request, _ = self.keepers.requests.ask_once(question, FIVE_MINUTES)
        if request.is_pending:
            self.answers(request)
        found = self.keepers.requests.find(request.request_id)
        assert found is not None
        return found


class Flow:
    """One capability, and whoever is asked about it."""

    def __init__(self, keepers: Keepers) -> None:
        self.keepers = keepers
        self.person = Person(keepers)
        inferred = Inferred(MINIMAL, 0.95)
        self.capability = keepers.capabilities.save(
            "weather", Language.PYTHON, "print(1)\n", inferred, by=OWNER
        )
        self.handler = PermissionEscalationHandler(
            keepers.capabilities,
            keepers.audit,
            self.person,
            protected=protected_roots(),
            user_id=OWNER,
        )

    @property
    def stored(self) -> Capability:
        """The capability as it is now."""
        found = self.keepers.capabilities.find(self.capability.capability_id)
        assert found is not None
        return found

    def failed(self, error: str = NET, **changes: object) -> Failed:
        """An execution in the set that the capability has now, that ended with this."""
        fields: dict[str, object] = {
            "execution_id": "execution-1",
            "capability_id": self.capability.capability_id,
            "current_set": determine_permission_set(self.stored),
            "error": error,
            "original_error": "ConnectionRefusedError",
            "engine": "native",
            "code_hash": self.capability.code_hash,
            "version": self.capability.version,
            "so_far": ("read nothing",),
            "workspace": "/place/project",
            "arguments": {"city": "Bern"},
            "name": "weather",
        }
        return Failed(**{**fields, **changes})  # type: ignore[arg-type]

    def handle(self, error: str = NET, **changes: object) -> Escalated:
        """What comes of it."""
        return self.handler.handle_permission_error(self.failed(error, **changes))

    @property
    def log(self) -> list[tuple[str, str, bool, str | None]]:
        """The decisions that were logged."""
        entries = self.keepers.audit.get_audit_log(self.capability.capability_id)
        return [(e.from_set, e.to_set, e.approved, e.approved_by) for e in entries]

    @property
    def refusals(self) -> list[dict[str, object]]:
        """What was refused without a question."""
        found = events(self.keepers.ledger)
        return [each["payload"] for each in found if each["type"] == REFUSED_EVENT]
