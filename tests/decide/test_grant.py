"""Grants hold for one module version under one catalog (MODULES §grant)."""

from dataclasses import replace
from typing import Any

import pytest

from consentry.base.errors import BadInput
from consentry.decide.grant import GrantLack, GrantNeed, GrantScope, grant_for, granted
from consentry.surface.catalog import capability_catalog
from tests.decide.samples import (
    DIGEST,
    NOW,
    OTHER_DIGEST,
    OWNER,
    SESSION,
    grant,
    grant_terms,
    sample_id,
)

CATALOG = capability_catalog()
NEED = GrantNeed("note-board", "word-count", "1.2.3", DIGEST, "state.read", SESSION)


@pytest.mark.parametrize("scope", list(GrantScope))
def test_a_grant_holds_for_its_own_module_version(scope: GrantScope) -> None:
    """For both scopes."""
    assert grant_for([grant(scope)], NEED, CATALOG) == grant(scope)


@pytest.mark.parametrize(
    "changes",
    [{"module_id": "other-one"}, {"capability_id": "state.write.tx"}, {"host_id": "other-host"}],
)
def test_no_grant_implies_another(changes: dict[str, Any]) -> None:
    """Another module, capability or host has nothing."""
    assert grant_for([grant()], replace(NEED, **changes), CATALOG) is GrantLack.NOT_GRANTED
    assert grant_for([], NEED, CATALOG) is GrantLack.NOT_GRANTED


def test_a_changed_module_version_voids_the_grant() -> None:
    """Also one that only differs in its build."""
    for version in ("1.2.4", "1.2.3+1", "1.2"):
        found = grant_for([grant()], replace(NEED, module_version=version), CATALOG)
        assert found is GrantLack.STALE


def test_other_content_of_the_same_version_voids_the_grant() -> None:
    """MODULES §grant-6: a package that changed without a new version has to be granted anew."""
    found = grant_for([grant()], replace(NEED, package_digest=OTHER_DIGEST), CATALOG)
    assert found is GrantLack.STALE


def test_going_back_to_the_old_version_revives_nothing() -> None:
    """MODULES §grant-2: what another version voided stays void, and is stale, not unknown."""
    void = grant().voided(NOW)
    assert (void.is_void, grant().is_void, grant().revoked(OWNER, NOW).is_void) == (
        True,
        False,
        False,
    )
    assert grant_for([void], NEED, CATALOG) is GrantLack.STALE
    again = replace(grant(), grant_id=sample_id("grant", 2))
    assert grant_for([void, again], NEED, CATALOG) == again


def test_a_new_major_catalog_voids_the_grant() -> None:
    """A minor one does not."""
    major, minor = replace(CATALOG, version="2.0.0"), replace(CATALOG, version="1.9.0")
    assert grant_for([grant()], NEED, major) is GrantLack.STALE
    assert grant_for([grant()], NEED, minor) == grant()


def test_a_revoked_grant_is_none() -> None:
    """Deleted reverts to deny."""
    assert grant_for([grant().revoked(OWNER, NOW)], NEED, CATALOG) is GrantLack.NOT_GRANTED


@pytest.mark.parametrize("session", [None, sample_id("session", 9)])
def test_a_grant_for_a_session_is_none_outside_of_it(session: str | None) -> None:
    """Another session, or none."""
    elsewhere = replace(NEED, session_id=session)
    found = grant_for([grant(GrantScope.SESSION)], elsewhere, CATALOG)
    assert found is GrantLack.NOT_GRANTED
    assert grant_for([grant(GrantScope.PERSISTENT)], elsewhere, CATALOG) == grant()


def test_a_grant_whose_session_is_over_is_stale() -> None:
    """MODULES §grant-6: expired is another answer than never given; of another module it says nothing."""
    over = grant(GrantScope.SESSION)
    assert grant_for([], NEED, CATALOG, expired=[over]) is GrantLack.STALE
    assert grant_for([grant()], NEED, CATALOG, expired=[over]) == grant()
    other = replace(NEED, module_id="outline")
    assert grant_for([], other, CATALOG, expired=[over]) is GrantLack.NOT_GRANTED
    revoked = over.revoked(OWNER, NOW)
    assert grant_for([], NEED, CATALOG, expired=[revoked]) is GrantLack.NOT_GRANTED


def test_a_grant_that_holds_goes_before_a_stale_one() -> None:
    """In whichever order they come."""
    stale = replace(grant(module_version="1.0.0"), grant_id=sample_id("grant", 2))
    assert grant_for([stale, grant()], NEED, CATALOG) == grant()


@pytest.mark.parametrize("capability", ["state.*", "*", "State.Read", "state.read ", "state"])
def test_only_the_catalog_can_be_granted(capability: str) -> None:
    """No wildcard, prefix or other spelling."""
    with pytest.raises(BadInput, match="not in the catalog"):
        granted(grant_terms(capability_id=capability), sample_id("grant"), CATALOG, NOW)


def test_a_grant_carries_the_version_of_the_catalog() -> None:
    """As it was when it was given."""
    assert granted(grant_terms(), sample_id("grant"), CATALOG, NOW).grant_version == CATALOG.version
