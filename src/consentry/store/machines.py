"""Machines in the store: each registers itself once, and again when it is called otherwise."""

from collections.abc import Sequence

from consentry.base.canonical import canonical_json
from consentry.base.clock import Clock
from consentry.base.ids import IdSource
from consentry.decide.machine import FIELDS, Machine
from consentry.record.envelope import Context
from consentry.record.events import EventType
from consentry.store.database import Transaction
from consentry.store.journal import About, Journal
from consentry.store.ledger import Ledger
from consentry.store.rows import Overtaken, Table

_TABLE = Table("machine", FIELDS, frozenset({"labels"}), Machine.from_json)


class StoredMachines:
    """The machines that use one store."""

    def __init__(self, ledger: Ledger, ids: IdSource, clock: Clock, context: Context) -> None:
        self._journal = Journal(ledger, ids, clock, context)

    def register(self, host_name: str, labels: Sequence[str] | None = None) -> Machine:
        """This machine; recorded when it is new or called otherwise, labels as they are if None."""
        while True:
            known = self.find(self._journal.machine_id)
            wanted = self._wanted(known, host_name, labels)
            if wanted == known or self._recorded(known, wanted):
                return wanted

    def find(self, machine_id: str) -> Machine | None:
        """The machine with this id."""
        return _TABLE.find(self._journal.database, machine_id)

    def all(self) -> Sequence[Machine]:
        """Every machine, in the order of their registration."""
        rest = "ORDER BY registered_at, machine_id"
        return _TABLE.select(self._journal.database, "1 = 1", (), rest)

    def _wanted(
        self, known: Machine | None, host_name: str, labels: Sequence[str] | None
    ) -> Machine:
        journal = self._journal
        fresh = known or Machine(journal.machine_id, host_name, journal.clock.now())
        return fresh.renamed(host_name, labels)

    def _recorded(self, known: Machine | None, wanted: Machine) -> bool:
        """Writes it, unless another process of this machine was first."""

        def change(transaction: Transaction) -> None:
            if known is None:
                _TABLE.insert(transaction, wanted)
                return
            before = (known.host_name, canonical_json(list(known.labels)).decode())
            names, only_if = ("hostName", "labels"), "host_name = ? AND labels = ?"
            _TABLE.update(transaction, wanted, names, only_if, before)

        journal = self._journal
        about = About(wanted.machine_id)
        at = journal.clock.now()
        draft = journal.draft(EventType.MACHINE_REGISTERED, about, wanted.to_json(), at)
        try:
            journal.record(draft, change=change)
        except Overtaken:
            return False
        return True
