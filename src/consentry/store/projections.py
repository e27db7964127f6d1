"""Tables that are filled from events, in the transaction that records them."""

from collections.abc import Sequence

from consentry.record.envelope import LinkedEvent
from consentry.store.database import Transaction


def project(transaction: Transaction, events: Sequence[LinkedEvent]) -> None:
    """Writes the rows that these events stand for."""
