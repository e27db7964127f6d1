"""Machines in a real store: each is there once, under the name it has now."""

import pytest

from consentry.base.clock import ManualClock
from consentry.base.errors import BadInput
from consentry.store.ledger import Ledger
from tests.decide.samples import MINUTE, NOW, OTHER_MACHINE
from tests.store.conftest import Store
from tests.store.keepers import Keepers, events, pass_time, types


@pytest.fixture
def keepers(ledger: Ledger) -> Keepers:
    """Everything that keeps, on a clock that moves when told to."""
    return Keepers(ledger, ManualClock(NOW))


def test_a_machine_registers_once(keepers: Keepers) -> None:
    """However often it comes."""
    first = keepers.machines.register("host", ["farm", "big"])
    pass_time(keepers, MINUTE)
    assert keepers.machines.register("host") == first
    assert keepers.machines.register("host", ["big", "farm"]) == first
    assert keepers.machines.find(first.machine_id) == first
    [event] = events(keepers.ledger)
    assert event["payload"] == first.to_json()
    assert (event["type"], event["subject"]) == ("machine.registered", first.machine_id)


def test_a_new_name_or_label_is_recorded(keepers: Keepers) -> None:
    """The machine stays the one that was registered first."""
    first = keepers.machines.register("host", ["farm"])
    pass_time(keepers, MINUTE)
    renamed = keepers.machines.register("other")
    assert (renamed.host_name, renamed.labels) == ("other", ("farm",))
    assert renamed.registered_at == first.registered_at
    bare = keepers.machines.register("other", [])
    assert keepers.machines.find(first.machine_id) == bare
    assert types(keepers.ledger) == ["machine.registered"] * 3


def test_machines_that_share_a_store_are_listed(keepers: Keepers, store: Store) -> None:
    """In the order in which they came."""
    first = keepers.machines.register("one")
    pass_time(keepers, MINUTE)
    second = keepers.elsewhere(OTHER_MACHINE, store.open()).machines.register("one")
    assert list(keepers.machines.all()) == [first, second]
    assert keepers.machines.find("machine-" + "7" * 32) is None


def test_a_label_that_is_none_is_refused(keepers: Keepers) -> None:
    """Nothing is recorded."""
    with pytest.raises(BadInput, match="labels"):
        keepers.machines.register("host", ["Not A Label"])
    assert types(keepers.ledger) == []
