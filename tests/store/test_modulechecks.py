"""What the store knows of a module when it acts: loaded, fresh, and spent with its use (MODULES §use, §grant)."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from consentry.base.clock import ManualClock
from consentry.base.codes import Code
from consentry.base.errors import Refused
from consentry.decide.lasting import Lasts
from consentry.decide.modulemode import ModuleMode
from consentry.decide.session import SessionKind
from consentry.store.database import Transaction
from consentry.store.ledger import Ledger
from consentry.store.modulechecks import Use, spent_approval
from consentry.store.rows import Overtaken
from tests.decide.samples import NOW, OTHER_MACHINE, OWNER, sample_id
from tests.store.conftest import Store
from tests.store.keepers import Keepers, all_rows
from tests.store.modulekeeping import (
    EXPORT,
    FOR_SESSION,
    HOST,
    MODULE,
    READ,
    STORE,
    WANTS,
    Kept,
)


@pytest.fixture
def kept(ledger: Ledger) -> Kept:
    """A store with one module in it that was granted reading for good."""
    made = Kept(Keepers(ledger, ManualClock(NOW)))
    made.register()
    made.give(READ)
    return made


def test_a_standing_is_what_the_store_knows(kept: Kept) -> None:
    """MODULES §use-1 to §use-4: the content, what it asks for, what it was granted under which grant."""
    kept.give(STORE, lasts=Lasts.SESSION)
    found = kept.standing()
    assert found.identity == kept.identity
    assert found.requested == set(WANTS)
    grants = {
        each.terms.capability_id: each for each in kept.keepers.grants.of_module(HOST, MODULE)
    }
    assert {name: held.grant_id for name, held in found.granted.items()} == {
        name: grants[name].grant_id for name in (READ, STORE)
    }
    assert (found.stale, found.mode, found.session_id) == (
        frozenset(),
        ModuleMode.NORMAL,
        kept.session_id,
    )
    assert kept.checks.standing("no-such-module") is None


def test_a_grant_for_what_is_not_requested_is_not_loaded(kept: Kept) -> None:
    """MODULES §use-1: whoever wrote the row."""
    with kept.journal.database.writing() as transaction:
        transaction.run("UPDATE capability_grant SET capability_id = 'automation.invoke'")
        transaction.run("UPDATE module SET revision = revision + 1")
    assert kept.standing().granted == {}


def test_what_did_not_change_is_not_loaded_again(kept: Kept) -> None:
    """MODULES §use-4: the very same value, while nothing changed."""
    assert kept.standing() is kept.standing()


# Changed elsewhere, seen at once.


@pytest.fixture
def elsewhere(kept: Kept, store: Store) -> Kept:
    """Another machine on the same store."""
    return Kept(kept.keepers.elsewhere(OTHER_MACHINE, store.open()))


def test_a_grant_that_is_revoked_elsewhere_is_gone_at_once(kept: Kept, elsewhere: Kept) -> None:
    """MODULES §grant-4: not granted, and not stale."""
    [held] = kept.standing().granted.values()
    elsewhere.keepers.grants.revoke(held.grant_id, OWNER)
    assert kept.lacks()[READ] == "capability-not-granted"


def test_a_module_that_is_replaced_elsewhere_is_another_at_once(
    kept: Kept, elsewhere: Kept
) -> None:
    """MODULES §grant-2: its grants are stale; removed, there is no standing at all."""
    before = kept.standing()
    elsewhere.register("2.0.0")
    assert kept.standing().identity != before.identity
    assert kept.lacks()[READ] == "capability-grant-stale"
    elsewhere.modules.remove(HOST, MODULE, OWNER)
    assert kept.checks.standing(MODULE) is None


def test_one_that_is_removed_and_comes_back_is_loaded_anew(kept: Kept, elsewhere: Kept) -> None:
    """MODULES §grant-4: the same content again, though nobody looked in between."""
    kept.standing()
    elsewhere.modules.remove(HOST, MODULE, OWNER)
    elsewhere.register()
    assert kept.lacks()[READ] == "capability-not-granted"


def test_a_session_that_is_ended_elsewhere_takes_its_grants_along(
    kept: Kept, elsewhere: Kept
) -> None:
    """MODULES §decision-1: what was for it is stale at once, what is for good stays."""
    kept.give(STORE, lasts=Lasts.SESSION)
    assert set(kept.standing().granted) == {READ, STORE}
    elsewhere.keepers.sessions.end(kept.session_id)
    assert set(kept.standing().granted) == {READ}
    assert kept.lacks()[STORE] == "capability-grant-stale"
    assert kept.standing().session_id is None


@pytest.mark.parametrize("mode", list(ModuleMode)[:3])
def test_a_mode_that_is_set_elsewhere_holds_at_once(
    kept: Kept, elsewhere: Kept, mode: ModuleMode
) -> None:
    """MODULES §mode-deny-all, §mode-inspect-only, §mode-block-rejected."""
    kept.standing()
    elsewhere.modules.set_mode(mode, OWNER)
    assert kept.standing().mode is mode


def test_a_yes_elsewhere_is_seen_at_once(kept: Kept, elsewhere: Kept) -> None:
    """MODULES §flow-5: by the program that waits for it."""
    request = kept.ask(EXPORT)
    assert EXPORT in kept.lacks()

    elsewhere.keepers.requests.answer(request.request_id, FOR_SESSION)
    assert EXPORT in kept.standing().granted
    assert EXPORT not in elsewhere.standing().granted, "it was for the session that asked"


# Uses.


def test_uses_are_recorded_together_under_their_grants(kept: Kept) -> None:
    """MODULES §base-1: which run, which capability, which grant, for which operation."""
    kept.give(STORE)
    standing, run = kept.standing(), kept.run()
    kept.checks.record_uses(
        standing, run, [Use(READ), Use(STORE, {"operation": "put", "key": "k"})]
    )
    first, second = kept.payloads("module.capability.used")
    assert (first["capabilityId"], first["operation"]) == (READ, None)
    assert (second["capabilityId"], second["operation"]) == (
        STORE,
        {"operation": "put", "key": "k"},
    )
    for each in (first, second):
        assert each["grantId"] == standing.granted[each["capabilityId"]].grant_id
        assert (each["actionRunId"], each["commands"]) == (run.action_run_id, ["notes.count"])


@pytest.mark.parametrize(
    "changed", ["revoked", "replaced", "removed", "came back", "mode", "session", "granted"]
)
def test_a_use_is_not_recorded_on_what_does_not_hold_any_more(
    kept: Kept, elsewhere: Kept, changed: str
) -> None:
    """MODULES §grant-4, §use-4: whatever changed since it was loaded; nothing is recorded, nothing changes."""
    kept.give(STORE, lasts=Lasts.SESSION)
    standing, run = kept.standing(), kept.run()
    made: list[str] = []
    match changed:
        case "revoked":
            elsewhere.keepers.grants.revoke(standing.granted[READ].grant_id, OWNER)
        case "replaced":
            elsewhere.register("2.0.0")
        case "removed":
            elsewhere.modules.remove(HOST, MODULE, OWNER)
        case "came back":
            elsewhere.modules.remove(HOST, MODULE, OWNER)
            elsewhere.register()
        case "mode":
            elsewhere.modules.set_mode(ModuleMode.DENY_ALL, OWNER)
        case "session":
            elsewhere.keepers.sessions.end(kept.session_id)
        case _:
            elsewhere.give(EXPORT)
    with pytest.raises(Overtaken):
        kept.checks.record_uses(standing, run, [Use(READ)], lambda _: made.append("changed"))
    assert (kept.payloads("module.capability.used"), made) == ([], [])


def test_what_is_ended_while_a_use_is_recorded_waits_for_it(kept: Kept, elsewhere: Kept) -> None:
    """MODULES §grant-4: of a use and a revocation at once, either the use came first or it is not there."""
    for _ in range(6):
        [held] = kept.standing().granted.values()
        standing, run, start = kept.standing(), kept.run(), Barrier(2)

        def use(start: Barrier = start, standing: object = standing, run: object = run) -> bool:
            start.wait(60)
            try:
                kept.checks.record_uses(standing, run, [Use(READ)])  # type: ignore[arg-type]
            except Overtaken:
                return False
            return True

        def revoke(start: Barrier = start, named: str = held.grant_id) -> None:
            start.wait(60)
            elsewhere.keepers.grants.revoke(named, OWNER)

        before = len(kept.payloads("module.capability.used"))
        with ThreadPoolExecutor(2) as pool:
            used, revoked = pool.submit(use), pool.submit(revoke)
            revoked.result(60)
            is_used = used.result(60)
        assert len(kept.payloads("module.capability.used")) == before + is_used
        with pytest.raises(Overtaken):
            kept.checks.record_uses(standing, run, [Use(READ)])
        kept.give(READ)


def test_a_change_that_raises_takes_the_record_of_the_use_with_it(kept: Kept) -> None:
    """MODULES §order-3: both or neither."""

    def change(transaction: Transaction) -> None:
        transaction.run("DELETE FROM module")
        raise Refused(Code.MODULE_STORAGE_FULL, "no room")

    with pytest.raises(Refused):
        kept.checks.record_uses(kept.standing(), kept.run(), [Use(READ)], change)
    assert kept.payloads("module.capability.used") == []
    assert all_rows(kept.journal.database, "module")["module"] != []


# One yes, one run.


def test_an_approval_is_spent_once(kept: Kept) -> None:
    """CONTRACTS §12-approval-level: with the use, in one transaction; the second run uses nothing."""
    request_id, first, second = sample_id("request"), kept.run(), kept.run()
    standing = kept.standing()
    kept.checks.record_uses(standing, first, [Use(READ)], spent_approval(request_id, first, NOW))
    with pytest.raises(Refused) as refused:
        kept.checks.record_uses(
            standing, second, [Use(READ)], spent_approval(request_id, second, NOW)
        )
    assert refused.value.code == "request-settled"
    [used] = kept.payloads("module.capability.used")
    assert used["actionRunId"] == first.action_run_id


def test_an_approval_is_not_spent_by_a_use_that_failed(kept: Kept, elsewhere: Kept) -> None:
    """CONTRACTS §12-approval-level: overtaken, it is there for the next try."""
    request_id, run = sample_id("request"), kept.run()
    standing = kept.standing()
    elsewhere.give(EXPORT)
    spending = spent_approval(request_id, run, NOW)
    with pytest.raises(Overtaken):
        kept.checks.record_uses(standing, run, [Use(READ)], spending)
    kept.checks.record_uses(kept.standing(), run, [Use(READ)], spending)
    assert len(kept.payloads("module.capability.used")) == 1


def test_of_many_who_spend_at_once_one_does(kept: Kept, elsewhere: Kept) -> None:
    """CONTRACTS §12-approval-level: two machines, again and again."""
    for number in range(6):
        request_id, start = sample_id("request", number + 1), Barrier(2)

        def spend(who: Kept, start: Barrier = start, named: str = request_id) -> str:
            standing, run = who.standing(), who.run()
            start.wait(60)
            try:
                who.checks.record_uses(standing, run, [Use(READ)], spent_approval(named, run, NOW))
            except Refused as refused:
                return refused.code.value
            return "won"

        with ThreadPoolExecutor(2) as pool:
            assert sorted(pool.map(spend, (kept, elsewhere))) == ["request-settled", "won"]


def test_the_end_of_an_action_is_on_record(kept: Kept) -> None:
    """MODULES §base-1: done, failed or rejected, with the code where there is one."""
    run = kept.run()
    kept.checks.record_ended(run, "rejected", "capability-not-granted", {"why": "x"})
    [ended] = kept.payloads("module.action.ended")
    assert (ended["outcome"], ended["code"], ended["detail"]) == (
        "rejected",
        "capability-not-granted",
        {"why": "x"},
    )


def test_another_session_of_the_same_user_has_its_own_grants(kept: Kept) -> None:
    """MODULES §decision-1: what is for one is not for the other, and not stale there while it goes on."""
    kept.give(STORE, lasts=Lasts.SESSION)
    other = Kept(kept.keepers)
    assert other.session_id != kept.session_id
    assert other.lacks()[STORE] == "capability-not-granted"
    assert set(other.standing().granted) == {READ}
    kept.keepers.sessions.start(OWNER, SessionKind.LIBRARY)
    assert set(kept.standing().granted) == {READ, STORE}
