"""What is remembered of accepted plugins moves up with its event, in both databases (TRUST §lock-6)."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from consentry.base.values import replace
from consentry.decide.evidencecase import AcceptedEvidence, EvidenceKind
from consentry.decide.pluginversion import PluginVersion
from consentry.examine.plugintree import PluginTree
from consentry.store.ledger import Ledger
from consentry.store.pluginversions import Acceptable
from consentry.store.rows import Overtaken
from tests.decide.samples import APPROVER, OTHER_MACHINE
from tests.decide.signing import FILES, NOW, tree
from tests.store.keepers import Keepers, all_rows, events, types

PLACE = "/place/plugins"
EVIDENCE = AcceptedEvidence((EvidenceKind.DSSE,), ("author",), NOW)


@pytest.fixture
def keepers(ledger: Ledger) -> Keepers:
    """The keepers of one machine on a fresh store."""
    return Keepers(ledger)


def passed(version: str = "1.0.0", of: PluginTree | None = None, strength: int = 1) -> Acceptable:
    """A plugin that passed."""
    return Acceptable(PLACE, of or tree(), version, strength, EVIDENCE)


def kept(keepers: Keepers) -> PluginVersion | None:
    """What is remembered of it."""
    return keepers.plugin_versions.remembered(PLACE, "build")


def test_what_passed_is_remembered_with_its_event(keepers: Keepers) -> None:
    """Row and event have the same content; asking once more records nothing."""
    assert kept(keepers) is None
    made = keepers.plugin_versions.accept(passed())
    assert kept(keepers) == made
    keepers.plugin_versions.accept(passed())
    [event] = events(keepers.ledger)
    assert (event["type"], event["subject"]) == ("plugin.accepted", "plugin:build")
    expected = {name: each for name, each in made.to_json().items() if "forgotten" not in name}
    assert event["payload"] == expected


def test_the_memory_moves_up_and_never_down(keepers: Keepers) -> None:
    """To a higher version, and to more signers of the same one; not to an older one or fewer."""
    first = keepers.plugin_versions.accept(passed("1.0.0"))
    other = tree({**FILES, "new": b""})
    higher = keepers.plugin_versions.accept(passed("1.1.0", other))
    assert (higher.version, higher.memory_id) == ("1.1.0", first.memory_id)
    assert keepers.plugin_versions.accept(passed("1.0.0")) == higher
    stronger = keepers.plugin_versions.accept(passed("1.1.0", other, strength=2))
    assert stronger.strength == 2
    assert keepers.plugin_versions.accept(passed("1.1.0", other)) == stronger
    assert keepers.plugin_versions.accept(passed("1.2.0", tree({**FILES, "b": b""}))) == stronger
    assert kept(keepers) == stronger
    assert types(keepers.ledger) == ["plugin.accepted"] * 3


def test_folders_plugins_and_machines_do_not_share_a_memory(keepers: Keepers) -> None:
    """The same name elsewhere is another plugin."""
    keepers.plugin_versions.accept(passed("2.0.0"))
    assert keepers.plugin_versions.remembered("/place/other", "build") is None
    assert keepers.plugin_versions.remembered(PLACE, "other") is None
    there = keepers.elsewhere(OTHER_MACHINE, keepers.ledger.database)
    assert kept(there) is None
    there.plugin_versions.accept(passed("1.0.0"))
    found = kept(keepers)
    assert found is not None
    assert found.version == "2.0.0"


def test_what_was_forgotten_does_not_count_and_stays_on_record(keepers: Keepers) -> None:
    """A later acceptance is another memory."""
    first = keepers.plugin_versions.accept(passed("2.0.0"))
    gone = keepers.plugin_versions.forget(PLACE, "build", APPROVER)
    assert gone is not None
    assert (gone.memory_id, gone.forgotten_by) == (first.memory_id, APPROVER)
    assert kept(keepers) is None
    assert keepers.plugin_versions.forget(PLACE, "build", APPROVER) is None
    again = keepers.plugin_versions.accept(passed("1.0.0"))
    assert again.memory_id != first.memory_id
    assert types(keepers.ledger) == ["plugin.accepted", "plugin.forgotten", "plugin.accepted"]
    assert len(all_rows(keepers.ledger.database, "plugin_version")["plugin_version"]) == 2


def test_many_at_once_leave_the_highest(keepers: Keepers) -> None:
    """Threads that accept different versions at once; the memory is the highest of them."""
    versions = [f"1.{minor}.0" for minor in range(6)]
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda each: keepers.plugin_versions.accept(passed(each)), versions))
    found = kept(keepers)
    assert found is not None
    assert found.version == "1.5.0"
    assert len(all_rows(keepers.ledger.database, "plugin_version")["plugin_version"]) == 1


def test_an_event_that_cannot_be_recorded_leaves_no_row(keepers: Keepers) -> None:
    """Both or neither."""
    journal = keepers.plugin_versions._journal

    def fail(_transaction: object) -> None:
        raise Overtaken

    with pytest.raises(Overtaken):
        journal.record(change=fail)
    assert kept(keepers) is None
    made = keepers.plugin_versions.accept(passed())
    assert PluginVersion.from_json(made.to_json()) == made
    assert replace(made, version="1.0.1") != made
