"""What was accepted on this machine, for commands that only look; nothing is made by asking."""

from collections.abc import Iterator
from contextlib import contextmanager

from consentry.decide.acceptance import Accepted, NothingAccepted
from consentry.service.ledgers import ledger_for_reading, ledger_place
from consentry.service.surroundings import Surroundings
from consentry.store.acceptances import KnownAcceptances
from consentry.store.machine import known_machine_id


@contextmanager
def accepted_here(around: Surroundings) -> Iterator[Accepted]:
    """Knows which digests were accepted; where nothing was recorded yet, none."""
    history = ledger_for_reading(around)
    machine = known_machine_id(ledger_place(around).folder)
    if history is None:
        yield NothingAccepted()
        return
    try:
        known = (
            NothingAccepted() if machine is None else KnownAcceptances(history.database, machine)
        )
        yield known
    finally:
        history.database.close()
