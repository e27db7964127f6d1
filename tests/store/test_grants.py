"""Grants in a real store: for one module version, until revoked (MODULES §grant)."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest

from consentry.base.clock import ManualClock
from consentry.base.errors import BadInput, ConsentryError
from consentry.decide.grant import GrantLack, GrantNeed, GrantScope
from consentry.decide.identity import Role
from consentry.decide.session import SessionKind
from consentry.store.grants import StoredGrants
from consentry.store.ledger import Ledger
from consentry.surface.catalog import capability_catalog
from tests.decide.samples import (
    APPROVER,
    DIGEST,
    NOW,
    OTHER_DIGEST,
    OTHER_MACHINE,
    OWNER,
    grant_terms,
    sample_id,
)
from tests.store.conftest import Store
from tests.store.keepers import Keepers, events, types

HOST = "note-board"
NEED = GrantNeed(HOST, "word-count", "1.2.3", DIGEST, "state.read")


@pytest.fixture
def keepers(ledger: Ledger) -> Keepers:
    """Everything that keeps, on a clock that moves when told to."""
    return Keepers(ledger, ManualClock(NOW))


def test_nothing_is_granted_by_default(keepers: Keepers) -> None:
    """Deny until somebody says otherwise."""
    assert keepers.grants.active(NEED) is GrantLack.NOT_GRANTED


def test_a_grant_is_kept_recorded_and_holds(keepers: Keepers) -> None:
    """For its own version; for another it is stale."""
    given = keepers.grants.give(grant_terms())
    assert keepers.grants.active(NEED) == given == keepers.grants.find(given.grant_id)
    assert keepers.grants.active(replace(NEED, module_version="1.2.4")) is GrantLack.STALE
    assert keepers.grants.active(replace(NEED, module_id="other-one")) is GrantLack.NOT_GRANTED
    [event] = events(keepers.ledger)
    assert event["payload"] == given.to_json()
    assert (event["type"], event["subject"]) == ("grant.given", "module:word-count")


def test_the_same_grant_is_not_given_twice(keepers: Keepers) -> None:
    """The one that stands is returned; another giver, scope or version is another grant."""
    given = keepers.grants.give(grant_terms())
    assert keepers.grants.give(grant_terms()) == given
    assert keepers.grants.give(grant_terms(given_role=Role.OPERATOR)) == given
    assert types(keepers.ledger) == ["grant.given"]
    session = keepers.sessions.start(OWNER, SessionKind.LIBRARY).session_id
    for other in (
        grant_terms(given_by=APPROVER),
        grant_terms(module_version="2.0.0"),
        grant_terms(capability_id="state.write.tx"),
        grant_terms(GrantScope.SESSION, session_id=session),
    ):
        assert keepers.grants.give(other) != given
    assert len(keepers.grants.of_module(HOST, "word-count")) == 5


OTHER = replace(NEED, module_version="2.0.0")
BACK = NEED


def test_a_grant_for_another_version_voids_the_rest_for_good(keepers: Keepers) -> None:
    """MODULES §grant-2: of every capability; going back revives none, until somebody says yes."""
    old = keepers.grants.give(grant_terms())
    unused = keepers.grants.give(grant_terms(capability_id="state.write.tx"))
    foreign = keepers.grants.give(grant_terms(module_id="other-one"))
    new = keepers.grants.give(grant_terms(module_version="2.0.0"))
    assert keepers.grants.active(OTHER) == new
    assert keepers.grants.active(BACK) is GrantLack.STALE
    assert keepers.grants.active(replace(BACK, capability_id="state.write.tx")) is GrantLack.STALE
    assert keepers.grants.active(replace(BACK, module_id="other-one")) == foreign
    keepers.grants.revoke(new.grant_id, OWNER)
    assert keepers.grants.active(BACK) is GrantLack.STALE, "nothing is in its way, and it is void"
    again = keepers.grants.give(grant_terms())
    assert keepers.grants.active(BACK) == again
    assert again.grant_id != old.grant_id
    ended = [each for each in events(keepers.ledger) if each["type"] == "grant.revoked"]
    assert {(each["payload"]["grantId"], each["payload"]["revokedBy"]) for each in ended} == {
        (old.grant_id, "system"),
        (unused.grant_id, "system"),
        (new.grant_id, OWNER),
    }
    assert {each["actor"] for each in ended} == {"system", OWNER}


def test_other_content_that_is_granted_nothing_voids_the_rest_too(keepers: Keepers) -> None:
    """MODULES §grant-2: whoever brings the version or content says so; once, and it is recorded."""
    session = keepers.sessions.start(OWNER, SessionKind.LIBRARY).session_id
    old = keepers.grants.give(grant_terms())
    passing = keepers.grants.give(grant_terms(GrantScope.SESSION, session_id=session))
    assert _voided(keepers, "1.2.3") == set()
    assert _voided(keepers, "2.0.0") == {old.grant_id, passing.grant_id}
    assert _voided(keepers, "2.0.0") == _voided(keepers, "1.2.3") == set()
    for need in (OTHER, BACK, replace(BACK, session_id=session)):
        assert keepers.grants.active(need) is GrantLack.STALE
    assert types(keepers.ledger).count("grant.revoked") == 2
    assert keepers.grants.revoke(old.grant_id, OWNER).revoked_by == "system"


def test_the_same_version_with_other_content_is_another_module(keepers: Keepers) -> None:
    """MODULES §grant-6: stale under the new digest, void under the old one when it comes back."""
    keepers.grants.give(grant_terms())
    changed = replace(NEED, package_digest=OTHER_DIGEST)
    assert keepers.grants.active(changed) is GrantLack.STALE
    again = keepers.grants.give(grant_terms(package_digest=OTHER_DIGEST))
    assert keepers.grants.active(changed) == again
    assert keepers.grants.active(NEED) is GrantLack.STALE


def _voided(keepers: Keepers, version: str) -> set[str]:
    """The grants that the coming of this version ends."""
    voiding = keepers.grants.voiding(HOST, "word-count", (version, DIGEST), NOW)
    if voiding.drafts:
        keepers.ledger.append(*voiding.drafts, change=voiding.change)
    return {each.grant_id for each in voiding.grants}


def test_versions_that_are_granted_at_once_do_not_stand_beside_each_other(
    keepers: Keepers, store: Store
) -> None:
    """MODULES §grant-2: two machines, two versions, again and again; one is left standing."""
    other = keepers.elsewhere(OTHER_MACHINE, store.open())
    given = {"1.2.3": keepers, "2.0.0": other}
    for number in range(8):
        module_id, start = f"module-{number}", Barrier(2)

        def give(version: str, module_id: str = module_id, start: Barrier = start) -> None:
            start.wait(60)
            given[version].grants.give(grant_terms(module_id=module_id, module_version=version))

        with ThreadPoolExecutor(2) as pool:
            for each in [pool.submit(give, version) for version in given]:
                each.result(60)
        standing = [g for g in keepers.grants.of_module(HOST, module_id) if g.revoked_at is None]
        assert len(standing) == 1, module_id


def test_a_revoked_grant_reverts_to_deny(keepers: Keepers) -> None:
    """At once; it can be given again, and that is another one."""
    given = keepers.grants.give(grant_terms())
    revoked = keepers.grants.revoke(given.grant_id, APPROVER)
    assert keepers.grants.active(NEED) is GrantLack.NOT_GRANTED
    assert keepers.grants.revoke(given.grant_id, OWNER) == revoked
    again = keepers.grants.give(grant_terms())
    assert again.grant_id != given.grant_id
    assert keepers.grants.active(NEED) == again
    assert list(keepers.grants.of_module(HOST, "word-count")) == [revoked, again]
    assert types(keepers.ledger) == ["grant.given", "grant.revoked", "grant.given"]


def test_a_grant_for_a_session_ends_with_it(keepers: Keepers) -> None:
    """MODULES §grant-6: not given to another session; stale everywhere once its own is over."""
    session = keepers.sessions.start(OWNER, SessionKind.LIBRARY).session_id
    wanted = grant_terms(GrantScope.SESSION, session_id=session)
    given = keepers.grants.give(wanted)
    assert keepers.grants.active(replace(NEED, session_id=session)) == given
    assert keepers.grants.active(NEED) is GrantLack.NOT_GRANTED
    keepers.sessions.end(session)
    for need in (NEED, replace(NEED, session_id=session)):
        assert keepers.grants.active(need) is GrantLack.STALE
    assert (
        keepers.grants.active(replace(NEED, capability_id="state.write.tx"))
        is GrantLack.NOT_GRANTED
    )
    for over in (wanted, grant_terms(GrantScope.SESSION, session_id=sample_id("session", 9))):
        with pytest.raises(ConsentryError) as caught:
            keepers.grants.give(over)
        assert caught.value.code == "consent-closed"


def test_a_grant_that_was_revoked_before_its_session_ended_is_none(keepers: Keepers) -> None:
    """MODULES §grant-6: what somebody took back did not expire."""
    session = keepers.sessions.start(OWNER, SessionKind.LIBRARY).session_id
    given = keepers.grants.give(grant_terms(GrantScope.SESSION, session_id=session))
    keepers.grants.revoke(given.grant_id, OWNER)
    keepers.sessions.end(session)
    assert keepers.grants.active(NEED) is GrantLack.NOT_GRANTED


def test_a_new_major_catalog_voids_what_was_given(keepers: Keepers) -> None:
    """And under it the grant can be given anew."""
    keepers.grants.give(grant_terms())
    catalog = replace(capability_catalog(), version="2.0.0")
    later = StoredGrants(keepers.ledger, keepers.ids, keepers.clock, keepers.context, catalog)
    assert later.active(NEED) is GrantLack.STALE
    again = later.give(grant_terms())
    assert (later.active(NEED), again.grant_version) == (again, "2.0.0")


def test_unknown_capabilities_and_ids_are_refused(keepers: Keepers) -> None:
    """Nothing is recorded of them."""
    with pytest.raises(BadInput, match="capabilityId"):
        keepers.grants.give(grant_terms(capability_id="state.*"))
    with pytest.raises(ConsentryError) as caught:
        keepers.grants.revoke(sample_id("grant", 9), OWNER)
    assert caught.value.code == "id-unknown"
    assert types(keepers.ledger) == []
