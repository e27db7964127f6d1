"""Attempts and documents in a store of either kind, straight from the values, for the tests of both."""

from typing import Any

from consentry.base.clock import ManualClock
from consentry.base.ids import Uuid7Ids
from consentry.base.values import replace
from consentry.decide.identity import Role
from consentry.decide.statechange import EntityName, Operation, read_operations, worked_out
from consentry.decide.txattempt import Attempt
from consentry.decide.txpreview import NO_REVISION, PreviewTerms, preview_of
from consentry.decide.txstep import Caller, Stage, Step
from consentry.record.envelope import Context
from consentry.record.transactionstates import TransactionState
from consentry.store.database import Row, Value
from consentry.store.documents import StoredDocument
from consentry.store.journal import Journal
from consentry.store.ledger import Ledger
from consentry.store.transactioncontents import Drawn
from consentry.store.transactions import StoredTransactions
from tests.decide.samples import NOW, OWNER, SESSION, sample_id
from tests.decide.txsamples import WAYS, WORKER, S, approval, fresh, step_to
from tests.record.samples import WRITER
from tests.store.conftest import Store

CALLER = Caller(OWNER, Role.OWNER, "call-1")
ASKED = [{"op": "add", "path": "/notes/n1", "value": "hello"}]


class Kept:
    """What one program keeps in the store."""

    def __init__(self, store: Store, writer: str = WRITER) -> None:
        self.database = store.open()
        self.clock = ManualClock(NOW)
        self.ledger = Ledger(self.database, writer)
        context = Context(OWNER, writer, SESSION)
        self.journal = Journal(self.ledger, Uuid7Ids(self.clock), self.clock, context)
        self.stored = StoredTransactions(self.journal)

    def document(self, document_id: str = "note-board") -> StoredDocument:
        """The built-in store of a document."""
        return StoredDocument(self.database, self.clock, self.journal.ids, document_id)

    def begun(
        self, state: TransactionState = S.APPROVED, number: int = 1, **changes: Any
    ) -> Attempt:
        """A new attempt that is at a state which needs no key."""
        operations = read_operations(ASKED)
        tx_id = sample_id("tx", number)
        first = replace(fresh(), tx_id=tx_id, **changes)
        drawn = self._drawn(first, operations)
        steps, attempt = [], first
        for each in WAYS[state]:
            if each is S.PREVIEW_READY and drawn.preview is not None:
                preview: Any = drawn.preview
                found = (preview["previewHash"], NO_REVISION, preview["candidateRevision"])
                after = attempt.ready(*found, NOW)
            elif each is S.APPROVED:
                bound = {
                    "tx_id": tx_id,
                    "preview_hash": attempt.preview_hash,
                    "base_revision": NO_REVISION,
                }
                after = attempt.approved(approval(**bound), NOW)
            else:
                after = step_to(attempt, each)
            steps.append(Step(attempt.state, after, Stage.PREVIEW, CALLER))
            attempt = after
        return self.stored.begin(steps, drawn)

    def _drawn(self, first: Attempt, operations: tuple[Operation, ...]) -> Drawn:
        done = worked_out({}, operations)
        terms = PreviewTerms(first.tx_id, 1, first.origin.track.value, NO_REVISION, NOW)
        return Drawn(operations, preview_of(terms, done), done.writes)

    def applying(self, attempt: Attempt, key: str = "key") -> Attempt:
        """The step to `APPLYING`."""
        after = attempt.applying(key, WORKER, NOW)
        return self.stored.take(Step(attempt.state, after, Stage.APPLY, CALLER))

    def to(self, attempt: Attempt, state: TransactionState) -> Attempt:
        """Any other step."""
        return self.stored.take(Step(attempt.state, step_to(attempt, state), Stage.RECOVER, CALLER))

    def run(self, query: str, values: tuple[Value, ...] = ()) -> None:
        """Changes rows past everything."""
        with self.database.writing() as transaction:
            transaction.run(query, values)

    def rows(self, query: str) -> list[Row]:
        """What is there."""
        with self.database.reading() as view:
            return list(view.rows(query))


def named(entity_id: str, entity_type: str = "notes") -> EntityName:
    """An entity."""
    return EntityName(entity_type, entity_id)
