"""Grants in a real store: for one module version, until revoked (MODULES §grants)."""

from dataclasses import replace

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
    NOW,
    OWNER,
    grant_terms,
    sample_id,
)
from tests.store.keepers import Keepers, events, types

NEED = GrantNeed("word-count", "1.2.3", "state.read")


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
    assert len(keepers.grants.of_module("word-count")) == 5


def test_a_revoked_grant_reverts_to_deny(keepers: Keepers) -> None:
    """At once; it can be given again, and that is another one."""
    given = keepers.grants.give(grant_terms())
    revoked = keepers.grants.revoke(given.grant_id, APPROVER)
    assert keepers.grants.active(NEED) is GrantLack.NOT_GRANTED
    assert keepers.grants.revoke(given.grant_id, OWNER) == revoked
    again = keepers.grants.give(grant_terms())
    assert again.grant_id != given.grant_id
    assert keepers.grants.active(NEED) == again
    assert list(keepers.grants.of_module("word-count")) == [revoked, again]
    assert types(keepers.ledger) == ["grant.given", "grant.revoked", "grant.given"]


def test_a_grant_for_a_session_ends_with_it(keepers: Keepers) -> None:
    """And is none in another session, or where the session is over or unknown."""
    session = keepers.sessions.start(OWNER, SessionKind.LIBRARY).session_id
    wanted = grant_terms(GrantScope.SESSION, session_id=session)
    given = keepers.grants.give(wanted)
    assert keepers.grants.active(replace(NEED, session_id=session)) == given
    assert keepers.grants.active(NEED) is GrantLack.NOT_GRANTED
    keepers.sessions.end(session)
    assert keepers.grants.active(replace(NEED, session_id=session)) is GrantLack.NOT_GRANTED
    for over in (wanted, grant_terms(GrantScope.SESSION, session_id=sample_id("session", 9))):
        with pytest.raises(ConsentryError) as caught:
            keepers.grants.give(over)
        assert caught.value.code == "consent-closed"


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
