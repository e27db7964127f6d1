"""One document and its transactions on a store of either kind, without a host around them.

Each `Ground` is a program with a connection and a session of its own; another one on the same store is
another process. The rule of an origin is what its commands would say.
"""

from typing import Any, Final

from consentry.base.canonical import Json
from consentry.base.clock import Clock, ManualClock
from consentry.base.ids import Uuid7Ids
from consentry.base.units import Duration
from consentry.decide.documentstore import DocumentStore
from consentry.decide.identity import Role
from consentry.decide.question import Answer, Channel, Outcome
from consentry.decide.session import SessionKind
from consentry.decide.statechange import Operation, read_operations
from consentry.decide.txattempt import Attempt
from consentry.decide.txparts import TxOrigin
from consentry.declare.hostdescription import ApprovalLevel, ApprovalRule
from consentry.record.envelope import Context
from consentry.service.approvals import Desk
from consentry.service.transactionplace import USUAL_TERMS, TxPlace, TxTerms, Unwatched, Watch
from consentry.service.transactions import Transactions
from consentry.store.documents import StoredDocument
from consentry.store.journal import Journal
from consentry.store.ledger import Ledger
from consentry.store.sessions import StoredSessions
from tests.decide.samples import NOW, OWNER
from tests.record.samples import WRITER
from tests.store.conftest import Store
from tests.store.keepers import events

HOST: Final = "note-board"
RULE: Final = ApprovalRule("changes what people wrote", ApprovalLevel.HARD)
HELLO: Final[dict[str, Json]] = {"op": "add", "path": "/notes/n1", "value": "hello"}


def operations(*asked: Json) -> tuple[Operation, ...]:
    """These; adding one note where none are given."""
    return read_operations(list(asked or (HELLO,)))


class Ground:
    """One program."""

    def __init__(
        self,
        store: Store,
        *,
        writer: str = WRITER,
        document: DocumentStore | None = None,
        document_id: str = HOST,
        watch: Watch | None = None,
        terms: TxTerms = USUAL_TERMS,
        clock: Clock | None = None,
    ) -> None:
        self.store = store
        self.clock = clock or ManualClock(NOW)
        database = store.open()
        self.ledger = Ledger(database, writer)
        parts = (self.ledger, Uuid7Ids(self.clock), self.clock)
        sessions = StoredSessions(*parts, Context(OWNER, WRITER), lambda _: True)
        session = sessions.start(OWNER, SessionKind.LIBRARY).session_id
        self.journal = Journal(*parts, Context(OWNER, WRITER, session))
        self.desk = Desk(self.journal, pause=lambda _: None)
        if document is None:
            document = StoredDocument(database, self.clock, self.journal.ids, document_id)
        self.document = document
        place = TxPlace(self.journal, document, watch or Unwatched(), terms)
        self.transactions = Transactions(place, self.desk)

    def origin(self, rule: ApprovalRule | None = None, **changes: Any) -> TxOrigin:
        """The application's own change."""
        fields: dict[str, Any] = {
            "host_id": HOST,
            "proposed_by": OWNER,
            "label": "a change",
            "session_id": self.journal.context.session_id,
            "rule": rule,
        }
        return TxOrigin(**{**fields, **changes})

    def proposed(self, *asked: Json, rule: ApprovalRule | None = None) -> Attempt:
        """A new transaction of these operations."""
        return self.transactions.propose(self.origin(rule), operations(*asked))

    def applied(self, *asked: Json) -> Attempt:
        """One that is applied."""
        return self.transactions.apply(self.proposed(*asked).tx_id)

    def answered(
        self, attempt: Attempt, outcome: Outcome = Outcome.APPROVED, role: Role = Role.OWNER
    ) -> Attempt:
        """The attempt after somebody answered its question."""
        answer = Answer(outcome, OWNER, role, Channel.LIBRARY)
        self.desk.answer(str(attempt.request_id), answer)
        return self.kept(attempt)

    def kept(self, attempt: Attempt) -> Attempt:
        """The attempt as the store has it."""
        return self.transactions.place.stored.required(attempt.tx_id, attempt.attempt_no)

    def pass_time(self, seconds: int) -> None:
        """Moves the clock on."""
        assert isinstance(self.clock, ManualClock)
        self.clock.advance(Duration(seconds * 1000))

    @property
    def entities(self) -> dict[str, Json]:
        """What the document holds, by pointer."""
        found = self.document.read().entities
        return {f"/{kind}/{name}": value for (kind, name), value in sorted(found.items())}

    def steps(self, tx_id: str | None = None) -> list[dict[str, Any]]:
        """The steps that are on record, in order."""
        found = [each for each in events(self.ledger) if each["type"] == "transaction.transition"]
        return [each["payload"] for each in found if tx_id in (None, each["payload"]["txId"])]

    def way(self, tx_id: str | None = None) -> list[str]:
        """The states that were entered, in order."""
        return [each["nextState"] for each in self.steps(tx_id)]
