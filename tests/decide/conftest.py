"""A place to escalate in, for the tests of everything that comes of a denial."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from consentry.base.clock import ManualClock
from tests.decide.escalating import Flow
from tests.decide.samples import NOW
from tests.store.keepers import Keepers
from tests.store.ledgers import open_ledger


@pytest.fixture
def flow(tmp_path: Path) -> Iterator[Flow]:
    """A capability in a store of its own."""
    ledger = open_ledger(tmp_path / "store.db")
    yield Flow(Keepers(ledger, ManualClock(NOW)))
    ledger.close()
