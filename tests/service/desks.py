"""A desk on a ledger of either kind, and askers that are told what to say."""

from collections.abc import Callable
from dataclasses import dataclass, field

from consentry.base.clock import Clock, SystemClock
from consentry.base.ids import Uuid7Ids
from consentry.decide.approval import ApprovalRequest
from consentry.decide.identity import Identity
from consentry.decide.question import Answer
from consentry.record.envelope import Context
from consentry.service.approvals import Desk, Look
from consentry.store.journal import Journal
from consentry.store.ledger import Ledger
from tests.decide.samples import OWNER
from tests.record.samples import WRITER
from tests.store.conftest import Store


def journal_of(store: Store, clock: Clock | None = None, session_id: str | None = None) -> Journal:
    """One process's way to the store."""
    clock = clock or SystemClock()
    context = Context(OWNER, WRITER, session_id)
    return Journal(Ledger(store.open(), WRITER), Uuid7Ids(clock), clock, context)


def desk_of(store: Store, clock: Clock | None = None) -> Desk:
    """A desk that never sleeps long."""
    return Desk(journal_of(store, clock), pause=lambda _: None)


@dataclass
class Said:
    """An asker that answers with one answer, after something else happened."""

    answer: Answer | None
    meanwhile: Callable[[], object] = lambda: None
    looks: int = 0
    seen: list[ApprovalRequest] = field(default_factory=list)
    told: list[ApprovalRequest] = field(default_factory=list)

    def ask(self, request: ApprovalRequest, look: Look) -> Answer | None:
        """The answer; looks as often as it was told to before."""
        self.meanwhile()
        self.seen += [request, *(look() for _ in range(self.looks))]
        return self.answer

    def tell(self, request: ApprovalRequest) -> None:
        """Keeps what it was told."""
        self.told.append(request)


def by_whom(request: ApprovalRequest) -> Identity | None:
    """Who ended it."""
    return None if request.answer is None else request.answer.by
