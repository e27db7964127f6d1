"""Permits in the store: recorded when they are made, spent once.

A permit is recorded only together with, or after, the event that decided it. Spending one is a
compare-and-set that holds all its rules again: not spent, this machine, not too old.
"""

from consentry.base.clock import Clock
from consentry.base.ids import IdSource
from consentry.base.units import Duration
from consentry.decide.permit import (
    FIELDS,
    LONGEST_LIFE,
    PREFIX,
    Permit,
    PermitOrder,
    make_permit,
    undecided,
    unknown_permit,
)
from consentry.record.envelope import Context, Draft
from consentry.record.events import EventType
from consentry.store.database import Transaction
from consentry.store.journal import About, Journal
from consentry.store.ledger import Change, Ledger
from consentry.store.rows import Overtaken, Table, exists

_TABLE = Table("permit", FIELDS, frozenset({"digests", "arguments", "surface"}), Permit.from_json)
_SPENDING = ("spentAt", "spentBy")
# The decision behind a consent for good may be old enough to have been archived.
_IS_RECORDED = (
    "SELECT 1 FROM ledger_event WHERE event_id = ? "
    "UNION ALL SELECT 1 FROM archived_event WHERE event_id = ?"
)


class StoredPermits:
    """The permits of one store, as one machine makes and spends them."""

    def __init__(self, ledger: Ledger, ids: IdSource, clock: Clock, context: Context) -> None:
        self._journal = Journal(ledger, ids, clock, context)

    def make(self, order: PermitOrder, *decisions: Draft, life: Duration = LONGEST_LIFE) -> Permit:
        """A permit for this machine, recorded together with the decisions passed along.

        The event that the order names as its decision is one of those, or is in the ledger already.
        """
        permit, made = self._made(order, life)
        self._journal.record(*decisions, made, change=self._insertion(permit, decisions))
        return permit

    def make_and_spend(
        self, order: PermitOrder, by: str, *decisions: Draft, change: Change | None = None
    ) -> Permit:
        """A permit that is spent as soon as it is made, recorded as both, all in one go.

        `change` is what must hold or happen in the same transaction; if it raises, there is no permit.
        """
        permit, made = self._made(order, LONGEST_LIFE)
        spent = permit.spent(by, self._journal.machine_id, permit.made_at)
        insert = self._insertion(spent, decisions)

        def changes(transaction: Transaction) -> None:
            if change is not None:
                change(transaction)
            insert(transaction)

        self._journal.record(*decisions, made, self._spending(spent), change=changes)
        return spent

    def _made(self, order: PermitOrder, life: Duration) -> tuple[Permit, Draft]:
        journal, now = self._journal, self._journal.clock.now()
        permit = make_permit(order, journal.ids.new(PREFIX), journal.machine_id, now, life)
        about = About(order.subject)
        return permit, journal.draft(EventType.PERMIT_MADE, about, permit.to_json(), now)

    def _spending(self, spent: Permit) -> Draft:
        if spent.spent_at is None:
            raise ValueError("a permit that is not spent was recorded as such")
        payload = {
            "permitId": spent.permit_id,
            "spentAt": str(spent.spent_at),
            "spentBy": spent.spent_by,
        }
        about = About(spent.order.subject)
        return self._journal.draft(EventType.PERMIT_SPENT, about, payload, spent.spent_at)

    def _insertion(self, permit: Permit, decisions: tuple[Draft, ...]) -> Change:
        decision = permit.order.decision_event_id
        comes_along = any(draft.event_id == decision for draft in decisions)

        def change(transaction: Transaction) -> None:
            if not comes_along and not exists(transaction, _IS_RECORDED, (decision, decision)):
                raise undecided(permit.order)
            _TABLE.insert(transaction, permit)

        return change

    def spend(self, permit_id: str, by: str) -> Permit:
        """Spends it on this machine; refused to all but the first."""
        permit = self._required(permit_id)
        journal, now = self._journal, self._journal.clock.now()
        spent = permit.spent(by, journal.machine_id, now)
        try:
            journal.record(
                self._spending(spent),
                change=lambda transaction: _TABLE.update(
                    transaction, spent, _SPENDING, "spent_at IS NULL"
                ),
            )
        except Overtaken:
            return self._required(permit_id).spent(by, journal.machine_id, now)
        return spent

    def find(self, permit_id: str) -> Permit | None:
        """The permit with this id."""
        return _TABLE.find(self._journal.database, permit_id)

    def of_decision(self, event_id: str) -> Permit | None:
        """The permit that was made for that decision."""
        found = _TABLE.select(self._journal.database, "decision_event_id = ?", (event_id,), "")
        return found[0] if found else None

    def _required(self, permit_id: str) -> Permit:
        permit = self.find(permit_id)
        if permit is None:
            raise unknown_permit(permit_id)
        return permit
