"""A host is taken out of the store when nothing of it is left there (CONTRACTS §1-handlers)."""

import pytest

from consentry.base.clock import ManualClock
from consentry.store.hostremoval import remove_host
from consentry.store.ledger import Ledger
from tests.decide.samples import NOW, OWNER
from tests.declare.modulesamples import HOST as HOST_DESCRIPTION
from tests.store.keepers import Keepers
from tests.store.modulekeeping import HOST, MODULE, Kept


@pytest.fixture
def kept(ledger: Ledger) -> Kept:
    """A store in which a host is registered."""
    made = Kept(Keepers(ledger, ManualClock(NOW)))
    made.modules.register_host(HOST_DESCRIPTION)
    return made


def test_a_host_without_modules_is_removed_and_that_is_on_record(kept: Kept) -> None:
    """It is not known any more; registering it anew is an event again."""
    assert remove_host(kept.journal, HOST, OWNER) is True
    assert kept.modules.hosts() == []
    assert kept.payloads("module.host.removed") == [
        {
            "hostId": HOST,
            "digest": HOST_DESCRIPTION.digest,
            "removedBy": OWNER,
            "removedAt": str(NOW),
        }
    ]
    assert kept.modules.register_host(HOST_DESCRIPTION) is True


def test_a_host_that_has_a_module_stays(kept: Kept) -> None:
    """Or its modules would belong to nobody; nothing is recorded."""
    kept.register()
    assert remove_host(kept.journal, HOST, OWNER) is False
    assert kept.modules.hosts() == [HOST_DESCRIPTION]
    kept.modules.remove(HOST, MODULE, OWNER)
    assert remove_host(kept.journal, HOST, OWNER) is True


def test_a_host_that_is_not_there_is_no_change(kept: Kept) -> None:
    """Nothing is recorded."""
    assert remove_host(kept.journal, "other-board", OWNER) is False
    assert kept.payloads("module.host.removed") == []
