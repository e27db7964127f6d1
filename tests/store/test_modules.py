"""Hosts and modules in a real store: registered, replaced, removed, all or nothing; and the mode."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from consentry.base.clock import ManualClock
from consentry.base.errors import LedgerProblem
from consentry.base.values import replace
from consentry.decide.capabilitycheck import RejectCode, Rejection
from consentry.decide.lasting import Lasts
from consentry.decide.modulemode import ModeSetting, ModuleMode
from consentry.decide.moduleregistration import Registration
from consentry.record.envelope import Draft
from consentry.store.ledger import Ledger
from consentry.store.modules import StoredModules
from consentry.store.modulestorage import StoredModuleStorage
from consentry.surface.catalog import CapabilityCatalog
from tests.decide.samples import APPROVER, DIGEST, NOW, OTHER_MACHINE, OWNER
from tests.declare.modulesamples import HOST as HOST_DESCRIPTION
from tests.store.conftest import Store
from tests.store.keepers import Keepers, all_rows, types
from tests.store.modulekeeping import (
    EXPORT,
    HOST,
    MODULE,
    READ,
    STORE,
    WANTS,
    Kept,
    registration,
)

TABLES = ("module", "capability_grant", "module_storage", "module_block", "module_mode")


@pytest.fixture
def kept(ledger: Ledger) -> Kept:
    """A store with nothing in it but a session."""
    return Kept(Keepers(ledger, ManualClock(NOW)))


# Registered and replaced.


def test_a_module_is_registered_as_it_was_read(kept: Kept) -> None:
    """CONTRACTS §1-atomic: the document, who brought it and when; nothing was there before."""
    assert kept.register() is None
    found = kept.modules.find(HOST, MODULE)
    assert found == registration()
    assert kept.modules.all() == kept.modules.all(HOST) == [found]
    assert kept.modules.find(HOST, "other-one") is None
    assert kept.modules.all("other-board") == []


def test_another_version_takes_its_place_and_says_so(kept: Kept) -> None:
    """CONTRACTS §1-envelope: what was there is given back, and counted up."""
    kept.register()
    before = kept.register("2.0.0")
    assert before == registration()
    found = kept.modules.find(HOST, MODULE)
    assert found is not None
    assert found.identity.module_version == "2.0.0"
    assert found.revision > before.revision
    assert len(kept.modules.all()) == 1


def test_the_event_says_what_was_replaced(kept: Kept) -> None:
    """CONTRACTS §1-envelope: version and digest of what was there."""
    for version in ("1.0.0", "2.0.0"):
        kept.register(version)
    first, second = kept.payloads("module.imported")
    assert (first["replacedVersion"], first["replacedDigest"]) == (None, None)
    assert (second["replacedVersion"], second["replacedDigest"]) == (
        "1.0.0",
        first["packageDigest"],
    )
    assert second["capabilities"] == list(WANTS)
    assert (second["importedBy"], second["importedAt"]) == (OWNER, str(NOW))


class Broken(Exception):
    """What stands for a crash in the middle."""


class BreaksAtTheEnd(Ledger):
    """A ledger in which every transaction ends in an error after all its changes were made."""

    def append(self, *drafts: Draft, change=None):  # type: ignore[no-untyped-def]
        """Changes all, and is undone."""

        def change_and_break(transaction):  # type: ignore[no-untyped-def]
            change(transaction)
            raise Broken

        return super().append(*drafts, change=change_and_break)


@pytest.mark.parametrize("act", ["register", "remove", "set_mode"])
def test_what_breaks_in_the_middle_leaves_nothing(kept: Kept, store: Store, act: str) -> None:
    """CONTRACTS §1-atomic, MODULES §stage-import: rows and events are as they were, down to the last."""
    kept.register()
    kept.give(READ, STORE)
    database = store.open()
    broken = replace(kept.journal, ledger=BreaksAtTheEnd(database, kept.journal.ledger.writer))
    modules = StoredModules(broken)
    before = (all_rows(database, *TABLES), types(kept.keepers.ledger))
    acts = {
        "register": lambda: modules.register(registration("2.0.0"), WANTS),
        "remove": lambda: modules.remove(HOST, MODULE, OWNER),
        "set_mode": lambda: modules.set_mode(ModuleMode.DENY_ALL, OWNER),
    }
    with pytest.raises(Broken):
        acts[act]()
    assert (all_rows(database, *TABLES), types(kept.keepers.ledger)) == before
    assert kept.standing().granted.keys() == {READ, STORE}


def test_two_programs_that_register_at_once_take_turns(kept: Kept, store: Store) -> None:
    """CONTRACTS §1-atomic: each replaced what the other left, and one module is there."""
    other = Kept(kept.keepers.elsewhere(OTHER_MACHINE, store.open()))
    for number in range(5):
        start = Barrier(2)

        def register(who: Kept, version: str, start: Barrier = start) -> str | None:
            start.wait(60)
            before = who.register(version)
            return None if before is None else before.identity.module_version

        kept.modules.remove(HOST, MODULE, OWNER)
        with ThreadPoolExecutor(2) as pool:
            versions = (f"1.{number}.0", f"2.{number}.0")
            found = [
                pool.submit(register, *each) for each in zip((kept, other), versions, strict=True)
            ]
            replaced = [each.result(60) for each in found]
        assert None in replaced
        assert set(replaced) - {None} < set(versions)
        assert len(kept.modules.all()) == 1


class LooksAway(StoredModules):
    """Sees a module, and does not see that another program changes it before the import is written."""

    def __init__(self, kept: Kept, meanwhile: Callable[[], object]) -> None:
        super().__init__(kept.journal)
        self._meanwhile = [meanwhile]

    def find(self, host_id: str, module_id: str) -> Registration | None:
        """What is there, and gone a moment later."""
        found = super().find(host_id, module_id)
        while self._meanwhile:
            self._meanwhile.pop()()
        return found


def test_what_is_replaced_is_what_was_there_at_last(kept: Kept) -> None:
    """CONTRACTS §1-atomic: an import between the look and the write is not lost, nor is a removal."""
    kept.register()
    overtaken = LooksAway(kept, lambda: kept.register("1.5.0"))
    before = overtaken.register(registration("2.0.0"), WANTS)
    assert before is not None
    assert before.identity.module_version == "1.5.0"
    removed = LooksAway(kept, lambda: kept.modules.remove(HOST, MODULE, OWNER))
    assert removed.register(registration("3.0.0"), WANTS) is None
    replaced = [each["replacedVersion"] for each in kept.payloads("module.imported")]
    assert replaced == [None, "1.0.0", "1.5.0", None]


def test_what_is_removed_is_what_was_there_at_last(kept: Kept) -> None:
    """CONTRACTS §1-atomic: with the grants that it had by then."""
    kept.register()

    def meanwhile() -> None:
        kept.register("2.0.0")
        kept.give(READ)

    removed = LooksAway(kept, meanwhile).remove(HOST, MODULE, OWNER)
    assert removed is not None
    assert (removed.registration.identity.module_version, removed.grants) == ("2.0.0", 1)
    assert kept.modules.all() == []


# Grants that end with their content.


def test_another_version_or_digest_voids_every_grant(kept: Kept) -> None:
    """MODULES §grant-2, §grant-6: stale, for session and lasting ones, and so in the ledger."""
    for version, content in (("2.0.0", "as it was"), ("1.0.0", "other content")):
        kept.register()
        kept.give(READ)
        kept.give(STORE, lasts=Lasts.SESSION)
        assert set(kept.standing().granted) == {READ, STORE}
        kept.register(version, content)
        assert kept.lacks() == {
            READ: "capability-grant-stale",
            STORE: "capability-grant-stale",
            EXPORT: "capability-not-granted",
        }
        kept.modules.remove(HOST, MODULE, OWNER)
    assert {each["revokedBy"] for each in kept.payloads("grant.revoked")[:2]} == {"system"}


def test_going_back_revives_nothing(kept: Kept) -> None:
    """MODULES §grant-2: the very content that was granted, again; it is stale until somebody says yes."""
    kept.register()
    kept.give(READ)
    kept.register("2.0.0")
    kept.register()
    assert kept.lacks()[READ] == "capability-grant-stale"
    kept.give(READ)
    assert set(kept.standing().granted) == {READ}


def test_the_same_content_keeps_its_grants(kept: Kept) -> None:
    """MODULES §grant-2: nothing changed, so nothing is void."""
    kept.register()
    kept.give(READ)
    kept.register()
    assert set(kept.standing().granted) == {READ}
    assert kept.payloads("grant.revoked") == []


def test_a_catalog_of_another_major_version_makes_grants_stale(kept: Kept) -> None:
    """MODULES §grant-3: of a minor one it does not."""
    kept.register()
    kept.give(READ)
    for version, stale in (("1.9.0", frozenset()), ("2.0.0", frozenset({READ}))):
        later = Kept(kept.keepers, CapabilityCatalog(version, kept.catalog.entries))
        assert later.standing().stale == stale


# Removed.


def test_removing_revokes_deletes_and_tells_how_much(kept: Kept) -> None:
    """MODULES §grant-4: grants, keys, blocks and the module, in one transaction with its events."""
    kept.register()
    kept.give(READ, STORE)
    storage = StoredModuleStorage(kept.journal.database, kept.journal.clock, HOST, MODULE)
    with kept.journal.database.writing() as transaction:
        storage.put_change("key", "value")(transaction)
    removed = kept.modules.remove(HOST, MODULE, APPROVER)
    assert removed is not None
    assert (removed.grants, removed.stored_keys) == (2, 1)
    assert kept.checks.standing(MODULE) is None
    [event] = kept.payloads("module.removed")
    assert (event["removedBy"], event["grants"], event["storedKeys"]) == (APPROVER, 2, 1)
    assert {each["revokedBy"] for each in kept.payloads("grant.revoked")} == {APPROVER}
    rows = all_rows(kept.journal.database, "module", "module_storage", "module_block")
    assert not any(rows.values())
    assert kept.modules.remove(HOST, MODULE, APPROVER) is None


def test_what_is_imported_again_was_never_granted_anything(kept: Kept) -> None:
    """MODULES §grant-4, §grant-6: not granted, and not stale: a person took it back."""
    kept.register()
    kept.give(READ)
    kept.modules.remove(HOST, MODULE, OWNER)
    kept.register()
    assert set(kept.lacks().values()) == {"capability-not-granted"}


def test_two_hosts_with_one_module_id_are_apart(kept: Kept) -> None:
    """MODULES §grant-1: what happens to the one says nothing about the other."""
    kept.register()
    kept.register(host_id="other-board")
    kept.give(READ)
    kept.register("2.0.0", host_id="other-board")
    assert set(kept.standing().granted) == {READ}
    kept.modules.remove("other-board", MODULE, OWNER)
    assert set(kept.standing().granted) == {READ}
    assert [each.identity.host_id for each in kept.modules.all()] == [HOST]


# Hosts.


def test_a_host_is_registered_once_for_each_content(kept: Kept) -> None:
    """CONTRACTS §1-handlers: recorded where it is new, and read back as it was."""
    newer = replace(HOST_DESCRIPTION, app_version="2.5.0")
    assert kept.modules.register_host(HOST_DESCRIPTION) is True
    assert kept.modules.register_host(HOST_DESCRIPTION) is False
    assert kept.modules.register_host(newer) is True
    assert kept.modules.host(HOST) == newer
    assert kept.modules.hosts() == [newer]
    assert kept.modules.host("other-board") is None
    recorded = kept.payloads("module.host.registered")
    assert [each["digest"] for each in recorded] == [HOST_DESCRIPTION.digest, newer.digest]


def test_a_row_that_nobody_here_wrote_is_not_believed(kept: Kept) -> None:
    """MODULES §base-2: a host or a module that was changed by hand is an error, not a smaller one."""
    kept.modules.register_host(HOST_DESCRIPTION)
    kept.register()
    with kept.journal.database.writing() as transaction:
        transaction.run("UPDATE module_host SET document = '{}'")
        transaction.run("UPDATE module SET document = '{'")
    for act in (kept.modules.hosts, kept.modules.all):
        with pytest.raises(LedgerProblem, match="cannot be believed"):
            act()


# The mode.


def test_the_mode_is_normal_until_somebody_changes_it(kept: Kept) -> None:
    """MODULES §mode-deny-all, §mode-inspect-only, §mode-block-rejected: who, when, from which, and why."""
    assert kept.modules.mode() == ModeSetting()
    for mode in ModuleMode:
        before = kept.modules.mode().mode
        assert kept.modules.set_mode(mode, APPROVER, "looking into it").mode is before
        assert kept.modules.mode() == ModeSetting(mode, APPROVER, NOW)
        assert kept.payloads("module.mode.changed")[-1] == {
            "mode": mode.value,
            "previous": before.value,
            "reason": "looking into it",
            "changedBy": APPROVER,
            "changedAt": str(NOW),
        }


def test_a_mode_takes_no_grant_away(kept: Kept) -> None:
    """MODULES §mode-deny-all: going back finds them as they were."""
    kept.register()
    kept.give(READ)
    for mode in (ModuleMode.DENY_ALL, ModuleMode.NORMAL):
        kept.modules.set_mode(mode, OWNER)
        assert set(kept.standing().granted) == {READ}
        assert kept.standing().mode is mode


def test_an_action_is_blocked_only_while_the_mode_says_so(kept: Kept) -> None:
    """MODULES §mode-block-rejected: with the code it was rejected with, until the mode or content changes."""
    no = Rejection(RejectCode.POLICY_VIOLATION, EXPORT, "no target")
    kept.register()
    kept.checks.record_rejected(no, kept.run())
    assert kept.standing().blocked == {}
    kept.modules.set_mode(ModuleMode.BLOCK_REJECTED, OWNER)
    kept.checks.record_rejected(no, kept.run())
    kept.checks.record_rejected(replace(no, code=RejectCode.NOT_GRANTED), kept.run())
    [(action_id, block)] = kept.standing().blocked.items()
    assert (action_id, block.code, block.capability_id) == ("count", no.code, EXPORT)
    kept.modules.set_mode(ModuleMode.NORMAL, OWNER)
    kept.modules.set_mode(ModuleMode.BLOCK_REJECTED, OWNER)
    assert kept.standing().blocked == {}
    kept.checks.record_rejected(no, kept.run())
    kept.register("2.0.0")
    assert kept.standing().blocked == {}


def test_a_refusal_blocks_nothing_of_what_was_replaced_or_removed(kept: Kept) -> None:
    """MODULES §mode-block-rejected, §audit-1: it is on record for the version that acted, and for nothing else."""
    no = Rejection(RejectCode.NOT_GRANTED, READ)
    kept.register()
    kept.modules.set_mode(ModuleMode.BLOCK_REJECTED, OWNER)
    old = kept.run()
    kept.register("2.0.0")
    kept.checks.record_rejected(no, old)
    assert kept.standing().blocked == {}
    kept.modules.remove(HOST, MODULE, OWNER)
    kept.checks.record_rejected(no, old)
    recorded = kept.payloads("capability.check.rejected")
    assert [each["moduleVersion"] for each in recorded] == ["1.0.0", "1.0.0"]
    assert all_rows(kept.journal.database, "module_block") == {"module_block": []}


def test_a_refused_package_is_one_event_and_nothing_else(kept: Kept) -> None:
    """MODULES §stage-import: with the digest of what was refused, whoever it says it is."""
    before = all_rows(kept.journal.database, *TABLES)
    kept.modules.record_rejected(HOST, None, "invalid-package-root", "package", DIGEST)
    unknown = registration().identity
    kept.modules.record_unknown_capability(unknown, "no.such", "package.x", DIGEST)
    assert types(kept.keepers.ledger)[-3:] == [
        "module.import.rejected",
        "capability.check.rejected",
        "module.import.rejected",
    ]
    assert all_rows(kept.journal.database, *TABLES) == before
